"""The bridge's pin on an AIMService: is it there, does it hold, and for which InferenceService.

Rule: R, "Dry-run and commit" (while both pins match, the exact legacy InferenceService is observed and nothing is
rendered; a missing or different one, or invalid legacy labels, fails closed; a later spec change expires the pin).
"""

import enum
from dataclasses import dataclass

from aim_api import bridge, labels
from aim_api.tree import JsonObject, get_strings
from aim_rehearsal.operator.conditions import Condition
from aim_rehearsal.operator.rendering import owned_inference_services
from aim_rehearsal.operator.settings import Misbehaviour
from aim_rehearsal.operator.store import generation, name, terminating, uid
from aim_rehearsal.operator.view import View


class PinState(enum.Enum):
    """What a pin means for one pass."""

    ABSENT = "absent"
    EXPIRED = "expired"
    HELD = "held"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class PinFinding:
    """A pin's state, the pinned InferenceService where it holds, and the condition that reports it."""

    state: PinState
    inference_service: JsonObject | None = None
    condition: Condition | None = None


def examine(service: JsonObject, view: View) -> PinFinding:
    """Return what the pin of a service says; a build that is no bridge does not see it."""
    annotations = get_strings(service, "metadata", "annotations")
    pin = bridge.Pin.from_annotations(annotations)
    if pin is None or not view.settings.bridge or view.settings.does(Misbehaviour.ROLLS_DESPITE_PIN):
        return PinFinding(PinState.ABSENT)
    if pin.generation != generation(service):
        message = f"The pin was for generation {pin.generation}; rendering has resumed."
        return PinFinding(PinState.EXPIRED, condition=_condition(service, "PinExpired", message))
    owned = owned_inference_services(service, view)
    found = next((item for item in owned if uid(item) == pin.inference_service_uid), None)
    if found is None or terminating(found):
        reason = "InferenceServiceReplaced" if owned else "InferenceServiceMissing"
        message = f"The pinned InferenceService with UID {pin.inference_service_uid} is not there; nothing is rendered."
        return PinFinding(PinState.BROKEN, condition=_condition(service, reason, message))
    marks = get_strings(found, "metadata", "labels")
    if len(owned) > 1:
        message = f"The service owns {len(owned)} InferenceServices; nothing is rendered."
        return PinFinding(PinState.BROKEN, condition=_condition(service, "InferenceServiceAmbiguous", message))
    if not marks.get(labels.TEMPLATE) or labels.PROFILE in marks:
        message = (
            f"InferenceService {name(found)} does not carry the labels of the template pipeline; nothing is rendered."
        )
        return PinFinding(PinState.BROKEN, condition=_condition(service, "LegacyLabelsInvalid", message))
    message = f"InferenceService {name(found)} is observed and left as it is."
    held = Condition(bridge.PRESERVED_CONDITION, true=True, reason="Preserved", message=message)
    return PinFinding(PinState.HELD, found, _at(held, service))


def _condition(service: JsonObject, reason: str, message: str) -> Condition:
    return _at(Condition(bridge.PRESERVED_CONDITION, true=False, reason=reason, message=message), service)


def _at(condition: Condition, service: JsonObject) -> Condition:
    return Condition(
        condition.type,
        condition.true,
        condition.reason,
        condition.message,
        observed_generation=generation(service),
    )
