"""The result document: counts, strictness, and what an incomplete one shows."""

import msgspec
import pytest

from aim_template_migration.documents.plan import API_VERSION
from aim_template_migration.documents.result import (
    KIND,
    SCHEMA_URI,
    UNIT_STATUSES,
    ApplyResult,
    OpenAttempt,
    ResultError,
    UnitResult,
    count_units,
    decode_result,
    encode_result,
)


def result(**more):
    return ApplyResult(
        schema=SCHEMA_URI,
        api_version=API_VERSION,
        kind=KIND,
        tool_version="1",
        run_id="r1",
        mode="commit",
        state="incomplete",
        plan_id="p1",
        plan_sha256="0" * 64,
        started_at="2026-06-02T09:00:00.000000Z",
        finished_at="",
        journal="apply-result.json.journal.jsonl",
        counts=count_units(()),
        **more,
    )


def test_every_status_is_counted_by_name():
    units = (UnitResult("a", "automatic", "failed"), UnitResult("b", "manual", "manual"))
    assert count_units(units) == {
        "succeeded": 0, "failed": 1, "manual": 1, "skipped": 0, "unknown": 0, "interrupted": 0
    }  # fmt: skip
    assert tuple(count_units(())) == UNIT_STATUSES


def test_it_encodes_and_decodes_without_loss():
    whole = result(
        in_flight=(OpenAttempt("u", "CutOver", "AIMService/a/b", "2026-06-02T09:00:00Z", dry_run=True),),
        units=(UnitResult("u", "automatic", "unknown", http_status=504),),
        stopped="because",
    )
    data = encode_result(whole)
    assert decode_result(data) == whole
    assert data.endswith(b"}\n")
    assert b'"$schema"' in data


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "Other"}, "it is migration.aim.eai.amd.com/v1 Other, not migration.aim.eai.amd.com/v1 ApplyResult"),
        ({"apiVersion": "v0"}, "it is v0 ApplyResult"),
        ({"surplus": 1}, "unknown field `surplus`"),
        ({"mode": "other"}, "Invalid enum value 'other'"),
    ],
)
def test_anything_else_is_refused(change, message):
    data = msgspec.json.decode(encode_result(result())) | change
    with pytest.raises(ResultError, match=message):
        decode_result(msgspec.json.encode(data))


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[]", b"\x00" * 10])
def test_what_is_no_json_object_is_refused_in_one_sentence(data):
    with pytest.raises(ResultError, match=r"^it (is not JSON|does not fit)"):
        decode_result(data)
