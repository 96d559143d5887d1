"""The page: markup stays text, nothing is loaded, and the policy forbids what escaping should prevent."""

import base64
import hashlib
import html.parser
import json
import re

import pytest

from aim_template_migration.report.html import is_report, render
from aim_template_migration.report.sources import read_sources
from aim_template_migration.report.view import report_of
from tests.support.hostile import poisoned
from tests.support.runs import MARKUP, entries_of, mixed_plan, result_of, write_mixed, write_run

KEPT = frozenset({"schema", "api_version", "kind", "plan_id", "plan_sha256", "run_id", "journal", "time"})
IDENTITIES = ("AIMService/team-a/chat", "AIMService/team-a/summarise")


def page_of(*plans):
    return render(report_of(read_sources(plans, ()), made_at="2026-06-02T12:00:00Z", tool_version="0.1.0")).decode()


def write_hostile(directory):
    """Write a plan and a run in which every free string, names of objects included, ends in markup."""
    plan, ended = mixed_plan()
    plan = poisoned(plan, MARKUP, KEPT)
    units = tuple(poisoned(unit, MARKUP, KEPT | {"attempted_steps", "completed_steps"}) for unit in ended)
    result = result_of(plan, units, stopped=MARKUP)
    return write_run(directory, plan, result, entries_of(plan, units, message=MARKUP))


class Elements(html.parser.HTMLParser):
    """Every element of a page with its attributes, and the text of scripts and styles."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.scripts = []
        self.styles = []
        self._open = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        self._open = tag
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_data(self, data):
        if self._open == "script":
            attributes, text = self.scripts[-1]
            self.scripts[-1] = (attributes, text + data)
        elif self._open == "style":
            self.styles.append(data)

    def handle_endtag(self, tag):
        self._open = ""


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    return page_of(write_mixed(tmp_path_factory.mktemp("runs") / "plan"))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    return page_of(write_hostile(tmp_path_factory.mktemp("runs") / "plan"))


def test_markup_in_every_string_adds_no_element(mixed, hostile):
    plain, poisonous = Elements(mixed), Elements(hostile)
    allowed = {tag for tag, _ in plain.found} | {"div", "ul", "li", "strong"}
    assert {tag for tag, _ in poisonous.found} <= allowed
    assert not [attributes for _, attributes in poisonous.found if any(name.startswith("on") for name in attributes)]
    assert "img" not in {tag for tag, _ in poisonous.found}
    assert len(poisonous.scripts) == len(plain.scripts)


def test_the_markup_is_kept_as_text(hostile):
    rows, *_ = [json.loads(text) for attributes, text in Elements(hostile).scripts if attributes.get("id")]
    assert rows[0]["outcome"] == f"SharedNoRollout{MARKUP}"
    assert MARKUP not in hostile


def test_no_data_can_end_its_script(hostile):
    for attributes, text in Elements(hostile).scripts:
        if attributes.get("type") == "application/json":
            assert "<" not in text
            assert "\u2028" not in text


def test_nothing_is_loaded(mixed):
    loading = {"src", "href", "srcset", "action", "data", "poster", "background", "formaction", "ping", "xlink:href"}
    targets = [
        value for _, attributes in Elements(mixed).found for name, value in attributes.items() if name in loading
    ]
    assert sorted(targets) == ["#units", "data:,"]
    assert not re.search(r"https?://|url\(|@import|file:", "".join(Elements(mixed).styles))
    assert "style" not in {name for _, attributes in Elements(mixed).found for name in attributes}


def test_the_policy_names_the_script_and_the_style_and_nothing_else(mixed):
    elements = Elements(mixed)
    policy = next(
        attributes["content"]
        for tag, attributes in elements.found
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    rules = {rule.split()[0]: rule.split()[1:] for rule in policy.split("; ")}
    (script,) = (text for attributes, text in elements.scripts if "type" not in attributes)
    (style,) = elements.styles
    assert rules["default-src"] == ["'none'"]
    assert rules["script-src"] == [_source(script)]
    assert rules["style-src"] == [_source(style)]
    assert "unsafe" not in policy
    assert rules["trusted-types"] == ["'none'"]


def _source(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_the_script_parses_no_markup_and_asks_nobody(mixed):
    (script,) = (text for attributes, text in Elements(mixed).scripts if "type" not in attributes)
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval",
        "Function(",
        "fetch",
        "XMLHttp",
    ):
        assert word not in script


def test_every_unit_is_in_the_data(mixed):
    for unit in IDENTITIES:
        assert unit in mixed


def test_a_report_is_known_by_its_head(mixed):
    assert is_report(mixed.encode())
    assert not is_report(b"<!doctype html><title>Another page</title>")
    assert not is_report(b"")
