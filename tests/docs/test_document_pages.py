"""The pages about documents are those of the types. Write them anew with: python tools/document_pages.py."""

import re
from pathlib import Path

import pytest

from aim_template_migration.documents.schemas import described_schema, schema_files
from tools.document_pages import FOLDER, PAGES, document_pages

SOURCES = Path(__file__).parents[2] / "src"


@pytest.mark.parametrize("name", sorted(document_pages()))
def test_a_page_is_current(name):
    assert (FOLDER / name).read_text(encoding="utf-8") == document_pages()[name]


def test_no_page_is_left_over():
    assert {path.name for path in FOLDER.iterdir()} == set(document_pages())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_field_says_what_it_means(page):
    for name, definition in described_schema(page.document)["$defs"].items():
        assert definition["description"], name
        for field, shape in definition["properties"].items():
            assert shape.get("description"), f"{name}.{field}"


def test_every_published_schema_has_a_page():
    assert {page.schema for page in PAGES if page.schema} == set(schema_files())


def test_every_kind_that_the_code_names_has_a_page():
    kinds = {
        found
        for path in SOURCES.rglob("*.py")
        for found in re.findall(r'^KIND = "(\w+)"', path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert {"MigrationPlan", "PlanView", "CodeList"} <= kinds
    assert kinds - {page.kind for page in PAGES} == set()
