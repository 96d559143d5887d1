"""The emitter: any JSON value, read back with its types by YAML readers of both versions and by kubectl."""

import json
import subprocess

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from aim_template_migration.documents.backup_yaml import emit, join_documents

HOSTILE = [
    "",
    " ",
    "y",
    "N",
    "yes",
    "on",
    "Off",
    "TRUE",
    "null",
    "Null",
    "~",
    "nan",
    ".inf",
    "-.INF",
    "1e3",
    "12e03",
    "0o17",
    "0755",
    "0b11",
    "1_000",
    "12:30:45",
    "2026-03-01",
    "2026-03-01T10:00:00Z",
    "=",
    "<<",
    "- a",
    "a: b",
    "a #b",
    "# a",
    "*a",
    "&a",
    "!a",
    "|",
    ">",
    "%a",
    "@a",
    "`a",
    '"',
    "'",
    "{a}",
    "[a]",
    "a\nb",
    "a\tb",
    "a\rb",
    "\x7f",
    "\x85",
    "\u2028",
    "\ufeff",
    "\u00e9",
    "\U0001f600",
    "---",
    "...",
    "hf://Qwen/Qwen3-32B",
    "registry.example.org/aim:1.0",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_stays_a_text_as_value_and_as_key(text: str):
    value = {"value": text, "list": [text, [text]], text: {"nested": text}}
    assert yaml.safe_load(emit(value)) == value


JSON_TEXT = st.text(st.characters(codec="utf-8"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | JSON_TEXT,
    lambda below: st.lists(below, max_size=4) | st.dictionaries(JSON_TEXT, below, max_size=4),
    max_leaves=20,
)


@settings(max_examples=150, deadline=None)
@given(JSON)
def test_any_json_value_reads_back(value: object):
    assert yaml.safe_load(emit(value)) == value


def test_the_layout_is_that_of_kubectl():
    value = {"metadata": {"name": "a"}, "spec": {"env": [{"name": "A", "value": "1"}], "x": [[1, 2], []], "e": {}}}
    assert emit(value).splitlines() == [
        "metadata:",
        "  name: a",
        "spec:",
        "  env:",
        "  - name: A",
        '    value: "1"',
        "  x:",
        "  - - 1",
        "    - 2",
        "  - []",
        "  e: {}",
    ]


def test_documents_follow_a_comment():
    text = join_documents("first line\n\nlast line", [emit({"a": 1}), emit({"b": 2})])
    assert text == "# first line\n#\n# last line\n---\na: 1\n---\nb: 2\n"
    assert list(yaml.safe_load_all(text)) == [{"a": 1}, {"b": 2}]


@pytest.mark.kubectl
def test_kubectl_reads_every_hostile_text_as_it_was():
    data = {f"k{number}": text for number, text in enumerate(HOSTILE) if text.isprintable()}
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data}
    command = ["kubectl", "annotate", "--local", "-o", "json", "-f", "-", "x=y"]
    answer = subprocess.run(command, input=emit(obj).encode(), capture_output=True, check=True)
    assert json.loads(answer.stdout)["data"] == data


def test_values_can_be_changed_as_they_are_written_and_keys_stay():
    value = {"a": "a", "b": ["a", {"a": "a"}, ["a"]], "c": 1}
    assert emit(value, change=lambda text: text + ": x") == emit(
        {"a": "a: x", "b": ["a: x", {"a": "a: x"}, ["a: x"]], "c": 1}
    )
    assert emit("a", change=str.upper) == "A\n"
