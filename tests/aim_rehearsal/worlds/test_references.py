"""References that only the server can resolve."""

import pytest

from aim_api.names import pvc_name
from aim_rehearsal.worlds.references import references_in, resolved

LIVE = {"AIMArtifact/ns/weights": {"metadata": {"name": "weights", "uid": "u-1", "generation": 3}}}


def test_references_are_found_in_values_and_keys():
    value = {"a": ["$uid(A/ns/x)", {"$pvcName(B/ns/y)": "z"}], "b": "see $generation(C/z) there"}
    assert sorted(references_in(value)) == ["A/ns/x", "B/ns/y", "C/z"]


def test_a_whole_reference_keeps_its_type_and_one_within_a_text_becomes_text():
    assert resolved("$generation(AIMArtifact/ns/weights)", LIVE) == 3
    assert resolved(["uid=$uid(AIMArtifact/ns/weights)"], LIVE) == ["uid=u-1"]
    assert resolved("$pvcName(AIMArtifact/ns/weights)", LIVE) == pvc_name("weights", "u-1")


def test_a_reference_to_nothing_is_an_error():
    with pytest.raises(KeyError):
        resolved("$uid(AIMArtifact/ns/other)", LIVE)
