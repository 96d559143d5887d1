"""The codes of looking without touching: each used, each in sentences, none twice."""

import re

import pytest

from aim_template_migration.documents.codes import CODES
from aim_template_migration.documents.codes.applying_codes import APPLYING_CODES
from aim_template_migration.documents.codes.inspecting_codes import INSPECTING_CODES
from aim_template_migration.documents.codes.planning_codes import PLANNING_CODES
from tests.support.sources import string_constants


@pytest.mark.parametrize("code", INSPECTING_CODES, ids=lambda code: code.code)
def test_each_says_one_condition_and_what_to_do(code):
    assert re.fullmatch(r"([A-Z][a-z]+){2,}", code.code)
    assert code.summary.endswith(".")
    assert ". " not in code.summary
    assert code.advice.endswith(".")
    assert CODES[code.code] is code


def test_no_code_has_two_meanings():
    words = [code.code for code in (*PLANNING_CODES, *APPLYING_CODES, *INSPECTING_CODES)]
    assert len(words) == len(set(words))


def test_each_is_used():
    used = string_constants("inspecting")
    assert sorted(code.code for code in INSPECTING_CODES if code.code not in used) == []
