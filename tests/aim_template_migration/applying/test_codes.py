"""Codes are a closed set: what applying says is explained, and what is explained can be said."""

import ast
import re
from pathlib import Path

import pytest

import aim_template_migration.applying
from aim_template_migration.documents.codes import CODES
from aim_template_migration.documents.codes.applying_codes import APPLYING_CODES
from aim_template_migration.documents.codes.planning_codes import PLANNING_CODES
from aim_template_migration.documents.plan import STEP_NAMES

SOURCES = sorted(Path(aim_template_migration.applying.__file__).parent.glob("*.py"))
WORD = re.compile(r"[A-Z][a-z]+(?:[A-Z][a-z]+)+")

# Words in CamelCase that are names of kinds, conditions, caching modes and pipelines, and no codes.
NAMES = frozenset(
    {
        "AIMProfile",
        "ApplyOptions",
        "ApplyOutcome",
        "BridgeCompatible",
        "DedicatedHandoffRequiresQuiescence",
        "PersistentVolumeClaim",
        "RuntimeProjected",
        "SharedNoRollout",
    }
)


def texts(path):
    """Yield every string that is the whole of a literal."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


USED = {text for path in SOURCES for text in texts(path) if WORD.fullmatch(text)} - NAMES - set(STEP_NAMES)


@pytest.mark.parametrize("word", sorted(USED))
def test_every_code_that_applying_uses_is_explained(word):
    assert word in CODES


@pytest.mark.parametrize("code", [code.code for code in APPLYING_CODES])
def test_every_code_of_applying_can_be_said(code):
    assert code in USED | {"Forbidden", "Interrupted", "Unreachable"}


def test_no_code_has_two_meanings():
    words = [code.code for code in (*PLANNING_CODES, *APPLYING_CODES)]
    assert len(set(words)) == len(words)


@pytest.mark.parametrize("code", APPLYING_CODES, ids=lambda code: code.code)
def test_each_says_one_condition_and_what_to_do(code):
    assert WORD.fullmatch(code.code) or code.code in {"Forbidden", "Interrupted", "Unreachable"}
    assert code.summary.endswith(".")
    assert code.advice.endswith(".")
