"""Every situation that a run can leave has its page, and what a page shows is what really happens."""

import re

import pytest

from aim_template_migration.documents.codes import CODES
from aim_template_migration.documents.codes.situations import CONVERTED, SITUATIONS, page_of, reading_of
from tests.docs.playing import FOLDER, ROOT, pages, played

PAGES = {page.name: page for page in pages()}
WITHOUT_PAGE = {"AsPlanned", "CutOverConfirmed", "NotTouched"}
"""Findings after which nothing is to be done."""
WITHOUT_CODES = {"artifact-not-protected", "result-in-the-way"}
"""Situations whose codes have another page, or that end before there is a code."""
NOT_PLAYED = {"write-changed": "no admission webhooks"}
HEADINGS = [
    "How you recognise it",
    "What it means",
    "What is safe",
    "What you do",
    "What the runbook says",
    "Try it",
]


def codes_in(text):
    return set(re.findall(r"`([A-Z]\w+)`", text)) & set(CODES)


def test_every_failure_and_every_finding_of_inspect_has_its_page():
    failures = {code.code for code in CODES.values() if code.kind in ("stepFailure", "runFailure", "inspection")}
    assert {code for code in failures if not page_of(code)} == WITHOUT_PAGE


def test_pages_and_table_name_each_other():
    assert set(PAGES) == {*SITUATIONS} | WITHOUT_CODES
    assert {name for name, codes in SITUATIONS.items() if not codes} <= WITHOUT_CODES
    listed = [code for codes in SITUATIONS.values() for code in codes]
    assert len(listed) == len(set(listed))
    assert {*listed, *CONVERTED} <= set(CODES)
    for code in listed:
        assert (ROOT / page_of(code)).is_file()


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_page_has_its_parts_and_names_its_codes(name):
    page = PAGES[name]
    assert re.findall(r"^## (.+)$", page.text, re.MULTILINE) == HEADINGS
    assert set(SITUATIONS.get(name, ())) - codes_in(page.text) == set()
    assert page.blocks or NOT_PLAYED[name] in page.text


def test_the_index_names_every_page():
    index = (FOLDER.parent / "after-a-failure.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\(failures/([\w-]+)\.md\)", index)) == set(PAGES)


def test_there_is_something_to_read_about_every_code():
    for code in CODES.values():
        page, _, anchor = reading_of(code).partition("#")
        headings = re.findall(r"^#+ (.+)$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
        assert not anchor or anchor in {heading.lower().replace(" ", "-") for heading in headings}, code.code


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*PAGES} - {*NOT_PLAYED}))
def test_what_a_page_shows_happens(name, tmp_path):
    page = PAGES[name]
    text = " ".join(played(page, tmp_path).split())
    rows = page.recognised
    first = next((code for code in re.findall(r"`(\w+)`", rows["code"]) if code in CODES), "")
    wanted = [first] if rows["code"].startswith("`") else []
    found = rows["`inspect` finds"]
    wanted += (
        [next(iter(re.findall(r"`([A-Z]\w+)`", found)))] if found.startswith("`") and name not in SHOWN_BY_PLAN else []
    )
    assert "Traceback" not in text
    for word in wanted:
        assert word in text, (word, text[-3000:])
    for line in shown(page):
        assert line in text, (line, text[-3000:])


SHOWN_BY_PLAN = {"two-inference-services", "server-unreachable"}


def shown(page):
    """Return the sentences of a page's example without what differs from one run to the next."""
    block = re.search(r"```\n(.*?)```", page.text.partition("## How")[2].partition("## What it")[0], re.DOTALL)
    assert block
    for line in block[1].splitlines():
        words = re.sub(r"\s+", " ", line).strip()
        if words and not VARIES.search(words):
            yield words


VARIES = re.compile(r"[0-9a-f]{8,}|/|UID|\d{4}-\d\d-\d\dT|waited|process|\d+ bytes")
