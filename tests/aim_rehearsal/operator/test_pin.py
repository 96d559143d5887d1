"""The pin: absent, held, expired or broken."""

import pytest

from aim_api import bridge
from aim_rehearsal.operator import Misbehaviour, Settings
from aim_rehearsal.operator.pin import PinState, examine
from tests.aim_rehearsal.operator.objects import inference_service, service, view

HELD = {bridge.PRESERVE_UID: "u-s-1", bridge.PRESERVE_GENERATION: "4"}


def state(annotations, *inference_services, settings=None, generation=4):
    pinned = service(annotations=annotations, generation=generation)
    finding = examine(pinned, view(pinned, *inference_services, settings=settings))
    return finding.state, finding.condition.reason if finding.condition else None


def test_a_pin_holds_while_generation_uid_and_labels_match():
    assert state(HELD, inference_service()) == (PinState.HELD, "Preserved")


@pytest.mark.parametrize(
    "annotations",
    [{}, {bridge.PRESERVE_UID: "u-s-1"}, {bridge.PRESERVE_GENERATION: "4"}, HELD | {bridge.PRESERVE_GENERATION: "4x"}],
)
def test_half_a_pin_is_none(annotations):
    assert state(annotations, inference_service())[0] is PinState.ABSENT


@pytest.mark.parametrize("generation", [3, 5])
def test_another_generation_expires_it(generation):
    assert state(HELD, inference_service(), generation=generation) == (PinState.EXPIRED, "PinExpired")


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        ([], "InferenceServiceMissing"),
        ([inference_service("s-2")], "InferenceServiceReplaced"),
        ([inference_service(owner="other")], "InferenceServiceMissing"),
        ([inference_service(deletionTimestamp="2026-06-01T00:00:00Z")], "InferenceServiceReplaced"),
        ([inference_service(), inference_service("s-2")], "InferenceServiceAmbiguous"),
        ([inference_service(labels={})], "LegacyLabelsInvalid"),
        ([inference_service(labels={"aim.eai.amd.com/template": ""})], "LegacyLabelsInvalid"),
        (
            [inference_service(labels={"aim.eai.amd.com/template": "t", "aim.eai.amd.com/profile": "p"})],
            "LegacyLabelsInvalid",
        ),
    ],
    ids=["missing", "replaced", "not-owned", "terminating", "two", "no-label", "empty-label", "profile-label"],
)
def test_an_active_pin_on_anything_else_is_broken(found, reason):
    assert state(HELD, *found) == (PinState.BROKEN, reason)


@pytest.mark.parametrize("misbehaviour", [Misbehaviour.NO_BRIDGE, Misbehaviour.ROLLS_DESPITE_PIN])
def test_some_operators_do_not_see_it(misbehaviour):
    settings = Settings(misbehaviour=misbehaviour)
    assert state(HELD, inference_service(), settings=settings)[0] is PinState.ABSENT
