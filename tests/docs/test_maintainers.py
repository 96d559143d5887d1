"""What the pages for maintainers say holds: layers, contracts, links, commands."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ("CONTRIBUTING.md", "SECURITY.md", "STYLE.md")
ARCHITECTURE = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
PACKAGE = ROOT / "src" / "aim_template_migration"


@pytest.fixture(scope="module")
def contracts():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return settings["tool"]["importlinter"]["contracts"]


def picture():
    found = re.search(r"<!-- layers: .*? -->\n```\n(.*?)```", ARCHITECTURE, re.DOTALL)
    assert found
    return found[1].splitlines()


def test_the_picture_shows_the_layers_that_are_enforced(contracts):
    (layers,) = (contract["layers"] for contract in contracts if contract["type"] == "layers")
    assert picture() == layers


def test_every_package_has_its_layer_and_its_row():
    packages = {folder.name for folder in PACKAGE.iterdir() if (folder / "__init__.py").exists()}
    assert {name for line in picture() for name in line.split(" | ")} == packages
    assert set(re.findall(r"^\| `(\w+)` \|.*\|.*\|$", ARCHITECTURE, re.MULTILINE)) == packages


def test_every_contract_is_named(contracts):
    listed = ARCHITECTURE.partition("The contracts, by their names")[2].partition("## ")[0]
    assert re.findall(r"^- (.+)$", listed, re.MULTILINE) == [contract["name"] for contract in contracts]


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)", (ROOT / page).read_text(encoding="utf-8")):
        assert (ROOT / target).exists(), target


def test_commands_name_what_exists():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for script in re.findall(r"`python ((?!-m)\S+)`", text):
        assert (ROOT / script).exists(), script
    for module in re.findall(r"`python -m (tests\.[\w.]+)`", text):
        place = ROOT / module.replace(".", "/")
        assert place.with_suffix(".py").exists() or (place / "__main__.py").exists(), module


def test_ci_runs_the_commands_of_the_table():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for command in re.findall(r"\| `(ruff .*?|mypy|lint-imports|python -m pytest -.*?)` \|", text):
        if "tests/" not in command:
            assert all(part in script for part in command.split(" && ")), command


def test_files_named_in_the_pages_exist():
    text = "".join((ROOT / page).read_text(encoding="utf-8") for page in PAGES)
    for folder in re.findall(r"`((?:cli|mapping|documents)/[\w/.]+)`", text):
        assert (PACKAGE / folder).exists(), folder


def test_the_section_that_plan_names_for_a_dedicated_handoff_exists():
    from aim_template_migration.cli.rendering.overview import _HANDOFF

    page, anchor = _HANDOFF.split("Follow ")[1].split(",")[0].split("#")
    headings = [line for line in (ROOT / page).read_text().splitlines() if line.startswith("## ")]
    assert anchor in {line[3:].lower().replace(" ", "-") for line in headings}
