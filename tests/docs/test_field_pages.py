"""The pages about fields are those of the mapping. Write them anew with: python tools/field_pages.py."""

import pytest

from tools.field_pages import FOLDER, PAGES, field_pages


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.file)
def test_a_page_is_current(page):
    assert (FOLDER / page.file).read_text(encoding="utf-8") == field_pages()[page.file]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.file)
def test_every_field_has_its_row(page):
    text = field_pages()[page.file]
    assert [fate.path for fate in page.table.fates if f"| `{fate.path}`" not in text] == []
