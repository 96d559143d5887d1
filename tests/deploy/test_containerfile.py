"""The steps of the Containerfile, run without a container engine: its copies, its installation, its entry point."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.manifests import DEPLOY

ROOT = DEPLOY.parent
TEXT = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
STEPS = [
    line.partition(" ")[::2] for line in TEXT.replace("\\\n", " ").splitlines() if line and not line.startswith("#")
]
KNOWN = {"FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "ENTRYPOINT", "CMD"}


def test_only_known_steps_are_taken():
    assert {name for name, _ in STEPS} == KNOWN


def test_images_are_named_in_full_and_with_a_version():
    images = [words.split()[0] for name, words in STEPS if name == "FROM"]
    assert images
    for image in images:
        assert re.fullmatch(r"[\w.-]+\.[a-z]+/[\w/-]+:\d[\w.-]*", image), image


def test_it_runs_as_a_number_and_never_as_root():
    names = [name for name, _ in STEPS]
    last = len(names) - 1 - names[::-1].index("FROM")
    assert names[last:].count("USER") == 1
    assert dict(STEPS[last:])["USER"] == "65532:65532"


def test_nothing_is_added_from_elsewhere():
    assert "ADD" not in dict(STEPS)
    assert not re.search(r"https?:|curl|wget|apt-get", TEXT)


def test_it_copies_what_exists_and_no_more_than_the_package_needs():
    sources = {word for name, words in STEPS if name == "COPY" for word in words.split()[:-1] if "--from" not in words}
    assert all((ROOT / source).exists() for source in sources)
    assert sources & {".", "tests", ".git"} == set()


@pytest.mark.slow
def test_its_steps_build_an_environment_that_runs_from_a_read_only_place(tmp_path):
    """What is copied is all that the installation gets; the base image and the user are not tried."""
    source, installed = tmp_path / "source", tmp_path / "aim"
    source.mkdir()
    stage = 0
    for name, words in STEPS:
        stage += name == "FROM"
        if stage == 1 and name == "COPY":
            *copied, target = words.split()
            for item in copied:
                _copy(ROOT / item, source / target / (Path(item).name if target == "./" else ""))
        if stage == 1 and name == "RUN":
            command = words.replace("/opt/aim", str(installed)).replace("python -m venv", f"{sys.executable} -m venv")
            done = subprocess.run(["sh", "-ec", command], cwd=source, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
    facts = dict(STEPS)
    command = json.loads(facts["ENTRYPOINT"])
    there = {**_settings(facts["ENV"], installed), "HOME": str(tmp_path / "home")}
    for folder in (installed, *installed.rglob("*")):
        if folder.is_dir():
            folder.chmod(0o555)
    try:
        assert _said(command, json.loads(facts["CMD"]), there).startswith("usage: aim-template-migration")
        assert '"succeeded": 2' in _said(command, ["rehearse", "-o", "json"], there)
    finally:
        for folder in (installed, *installed.rglob("*")):
            if folder.is_dir():
                folder.chmod(0o755)


def _copy(source, target):
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    else:
        shutil.copy(source, target)


def _settings(words, installed):
    pairs = dict(word.split("=", 1) for word in words.replace("/opt/aim", str(installed)).split())
    return {**pairs, "PATH": pairs["PATH"].replace("$PATH", os.environ["PATH"])}


def _said(command, arguments, settings):
    done = subprocess.run([*command, *arguments], env=settings, cwd="/", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
