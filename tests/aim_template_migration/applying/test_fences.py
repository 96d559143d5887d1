"""Five messages, one for each way in which a recorded fact can fail."""

import msgspec
import pytest

from aim_template_migration.applying.fences import Live, check_membership, check_pin
from aim_template_migration.documents.plan import OwnerReference, Pin, Reference

REFERENCE = Reference(api_version="v1", kind="AIMService", name="a", namespace="n")
PLANNED = Pin(
    role="service",
    reference=REFERENCE,
    uid="u1",
    generation=3,
    content_digest="d",
    owner_references=(OwnerReference("v1", "AIMModel", "m", "um", controller=True),),
    resource_version="7",
    pod_template_hash="h",
)


def live(**changes):
    return Live(msgspec.structs.replace(PLANNED, **changes))


def test_an_unchanged_object_holds():
    assert check_pin(PLANNED, live()) is None


@pytest.mark.parametrize(
    ("found", "code", "message"),
    [
        (None, "PinGone", "AIMService/n/a is gone; the plan was made on UID u1"),
        (live(uid="u2"), "PinReplaced", "AIMService/n/a was replaced: its UID is u2, the plan was made on u1"),
        (Live(PLANNED, terminating=True), "PinTerminating", "AIMService/n/a is terminating"),
        (live(generation=4), "PinEdited", "metadata.generation differs"),
        (live(content_digest="e"), "PinEdited", "content differs"),
        (live(paused=True), "PinEdited", "the pause annotation differs"),
        (live(resource_version="8"), "PinEdited", "metadata.resourceVersion differs"),
        (live(pod_template_hash="i"), "PinEdited", "the pod template differs"),
        (live(owner_references=()), "PinEdited", "metadata.ownerReferences differs"),
        (
            live(owner_references=(OwnerReference("v1", "AIMModel", "m", "um", controller=False),)),
            "PinEdited",
            "metadata.ownerReferences differs",
        ),
        (live(generation=4, content_digest="e"), "PinEdited", "metadata.generation and content differs"),
    ],
)
def test_each_failure_has_its_own_message(found, code, message):
    breach = check_pin(PLANNED, found)
    assert breach is not None
    assert breach.code == code
    assert message in breach.message


def test_a_replaced_object_is_replaced_even_while_it_terminates():
    breach = check_pin(PLANNED, Live(msgspec.structs.replace(PLANNED, uid="u2"), terminating=True))
    assert breach is not None
    assert breach.code == "PinReplaced"


def test_an_object_that_must_not_exist_has_appeared():
    absent = Pin(role="runtimeConfig", reference=REFERENCE, absent=True)
    assert check_pin(absent, None) is None
    breach = check_pin(absent, live())
    assert breach is not None
    assert (breach.code, "has appeared" in breach.message) == ("PinAppeared", True)


def pin(role, name, *, absent=False):
    return Pin(
        role=role, reference=Reference("v1", "AIMArtifact", name, "n"), absent=absent, uid="" if absent else name
    )


def test_membership_tells_appeared_from_gone_and_leaves_own_effects_out():
    before = (pin("artifact", "a"), pin("targetProfile", "t", absent=True))
    own = frozenset({"AIMArtifact/n/t"})
    assert check_membership(before, (pin("artifact", "a"), pin("targetProfile", "t")), own) is None
    appeared = check_membership(before, (*before, pin("artifact", "b")), own)
    assert appeared is not None
    assert (appeared.code, appeared.message) == (
        "PinAppeared",
        "AIMArtifact/n/b has appeared in the closure (as artifact); the plan was made without it",
    )
    gone = check_membership(before, (before[1],), own)
    assert gone is not None
    assert (gone.code, gone.message) == ("PinGone", "AIMArtifact/n/a no longer belongs to the closure (as artifact)")
