"""What is installed along has a licence that the page on licences names."""

import re
import tomllib
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PAGE = (ROOT / "docs" / "explanation" / "licences.md").read_text(encoding="utf-8")
ALLOWED = re.compile(r"\b(MIT|MIT-0|BSD|Apache|PSF|Python Software Foundation)\b")
WEAK_COPYLEFT = re.compile(r"\bMPL\b|Mozilla Public License 2\.0")


def licence_of(package):
    told = package.metadata
    stated = told.get("License-Expression") or told.get("License") or ""
    classified = [line.rpartition("::")[2] for line in told.get_all("Classifier", []) if line.startswith("License")]
    return " ".join([stated.partition("\n")[0], *classified])


def required(lines, extras):
    """Yield name and extras of what applies on this platform."""
    for requirement in map(Requirement, lines):
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield requirement.name.lower(), frozenset(requirement.extras)


def installed_along():
    """Return every distribution that an installation of the tool brings along."""
    seen = set()
    agenda = list(required(PROJECT["project"]["dependencies"], ()))
    while agenda:
        current = agenda.pop()
        if current not in seen:
            seen.add(current)
            name, extras = current
            agenda += required(distribution(name).requires or (), extras)
    return {name: distribution(name) for name, _ in seen}


def test_every_library_has_a_licence_that_the_page_names():
    libraries = installed_along()
    assert {"urllib3", "msgspec", "rich", "pysocks"} <= set(libraries)
    for name, package in libraries.items():
        licence = licence_of(package)
        if WEAK_COPYLEFT.search(licence):
            assert f"`{name}`" in PAGE, f"{name}: {licence}"
        else:
            assert ALLOWED.search(licence), f"{name}: {licence}"
