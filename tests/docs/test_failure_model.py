"""The page on failures names exactly the faults, classes and worlds that the suite has, and its counts add up."""

import re
from pathlib import Path

import pytest

from aim_rehearsal.operator import Misbehaviour
from tests.faults.child.sabotage import SABOTAGES
from tests.faults.counts import SERVER
from tests.faults.families import EVERYTHING, NOT_ON_SERVER, SERVER_ANSWERS, WORLDS, ci
from tests.faults.injecting.answers import READ_ANSWERS, WRITE_ANSWERS, StoredLate
from tests.faults.injecting.races import RACES
from tests.faults.points import ERRORS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "explanation" / "failure-model.md").read_text(encoding="utf-8")
COUNTS = PAGE.partition("<!-- counts: begin -->")[2].partition("<!-- counts: end -->")[0]


def section(title):
    """Return the text below a heading, up to the next one."""
    _, _, rest = PAGE.partition(f"# {title}\n")
    assert rest, title
    return re.split(r"^#+ ", rest, maxsplit=1, flags=re.MULTILINE)[0]


def first_column(text, column=0):
    """Return the code words in one column of the tables of a text."""
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| `")]
    return [word for row in rows for word in re.findall(r"`([^`]+)`", row[column])]


@pytest.mark.parametrize(
    ("title", "names"),
    [
        ("Answers to a write", [*(answer.name for answer in WRITE_ANSWERS), StoredLate.name]),
        ("Answers to a read", [answer.name for answer in READ_ANSWERS]),
        ("What others do between a read and the write that rests on it", [race.name for race in RACES]),
        ("The operator", [item.value for item in Misbehaviour if item is not Misbehaviour.NONE]),
        ("How it is checked", [*SABOTAGES]),
    ],
)
def test_each_table_names_what_there_is_and_nothing_else(title, names):
    assert sorted(first_column(section(title))) == sorted(names)


def test_every_disk_call_and_error_is_named():
    text = section("The process, its disk and its clock")
    row = next(line for line in text.splitlines() if "with an error of the operating system" in line)
    words = set(re.findall(r"`([^`]+)`", row))
    assert words == {*ERRORS, *(error for errors in ERRORS.values() for error in errors)}


def test_what_is_played_before_a_real_server_is_named():
    text = section("How it is checked")
    told = text.partition("A slice runs before a real kube-apiserver")[2]
    assert set(re.findall(r"`([^`]+)`", told)) == {*SERVER_ANSWERS, *NOT_ON_SERVER}


def test_the_worlds_are_named():
    text = section("Campaigns")
    told = re.search(r"The worlds are (.*?):", text, re.DOTALL)
    assert told is not None
    assert tuple(re.findall(r"`([^`]+)`", told[1])) == WORLDS


def rows_of(header):
    """Return the rows of the table that begins with a header."""
    table = COUNTS.partition(f"{header}\n")[2].split("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[1:]]
    assert rows, header
    return rows


def number(text):
    return int(text.replace(",", ""))


def test_the_counts_of_the_full_campaign_are_of_every_class_and_add_up():
    *rows, total = rows_of("| class | faults played | of | violations |")
    assert [row[0] for row in rows] == list(EVERYTHING)
    assert total[0] == "all"
    for column in (1, 2, 3):
        assert sum(number(row[column]) for row in rows) == number(total[column])
    assert all(number(row[1]) <= number(row[2]) for row in rows)


def test_the_counts_of_what_every_change_is_tried_with_add_up():
    *rows, total = rows_of("| world | faults | violations |")
    assert [row[0] for row in rows] == [*WORLDS, SERVER]
    assert {part.world for part in ci()} == set(WORLDS)
    for column in (1, 2):
        assert sum(number(row[column]) for row in rows) == number(total[column])


def test_it_says_when_and_what_was_counted():
    assert re.search(r"\d{4}-\d\d-\d\d", COUNTS)
    assert re.search(r"commit `[0-9a-f]{7,}`", COUNTS)


@pytest.mark.parametrize("page", ["index.md", "explanation/architecture.md"])
def test_it_is_found_from_other_pages(page):
    assert "failure-model.md" in (ROOT / "docs" / page).read_text(encoding="utf-8")
