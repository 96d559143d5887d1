"""The reference pages are those of the code. Write them anew with: python tools/reference_docs.py."""

import pytest

from aim_template_migration.cli.commands.explain import all_codes
from tools.reference_docs import FOLDER, reference_pages


@pytest.mark.parametrize("name", sorted(reference_pages()))
def test_a_page_is_current(name):
    assert (FOLDER / name).read_text(encoding="utf-8") == reference_pages()[name]


def test_every_code_has_its_row():
    page = reference_pages()["codes.md"]
    assert [code for code in all_codes() if f"| `{code}` |" not in page] == []
