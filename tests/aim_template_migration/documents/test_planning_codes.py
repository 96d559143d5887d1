"""The closed set of codes: unique, in sentences, and used."""

import re

from aim_template_migration.documents.codes import CODES
from aim_template_migration.documents.codes.planning_codes import PLANNING_CODES
from tests.support.sources import string_constants


def test_codes_are_unique_camel_case_words():
    names = [code.code for code in PLANNING_CODES]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"([A-Z][a-z]+)+", name) for name in names)


def test_each_has_one_sentence_and_an_advice():
    for code in PLANNING_CODES:
        assert code.summary.endswith(".")
        assert ". " not in code.summary, code.code
        assert code.advice.endswith(".")
        assert code.code in CODES


def test_each_is_used_by_planning_or_mapping():
    used = string_constants("planning", "mapping")
    assert sorted(code.code for code in PLANNING_CODES if code.code not in used) == []


def test_the_advice_on_inference_services_fits_none_and_several():
    advice = CODES["AmbiguousInferenceService"].advice
    assert "has none" in advice
    assert "several" in advice
