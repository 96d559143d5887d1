"""The service controller: dispatch, proofs, finalizer, and being quiet about what was loaded."""

import pytest

from aim_rehearsal.operator import Misbehaviour, Settings, service
from aim_rehearsal.operator.writes import Patch, Remove, SetStatus
from tests.aim_rehearsal.operator import objects
from tests.aim_rehearsal.operator.objects import obj, said, view

FINALIZER = ["aim.eai.amd.com/cache-cleanup"]
RUNNING = {"status": "Running", "conditions": [{"type": "Ready", "status": "True", "reason": "AllComponentsReady"}]}


@pytest.mark.parametrize(
    ("annotation", "spec", "profile"),
    [
        (None, {"model": {"name": "m"}}, False),
        (None, {"profile": {"name": "p"}}, True),
        ("profile", {"model": {"name": "m"}}, True),
        ("template", {"profile": {"name": "p"}}, False),
        ("other", {"profile": {"name": "p"}}, True),
    ],
)
def test_the_annotation_decides_then_the_spec(annotation, spec, profile):
    notes = {"aim.eai.amd.com/reconciler-pipeline": annotation} if annotation else {}
    assert service.on_profile_pipeline(objects.service(spec=spec, annotations=notes)) is profile


def loaded_service(**fields):
    return objects.service(spec={"model": {"name": "m"}}, status=RUNNING, finalizers=FINALIZER, **fields)


def test_a_loaded_service_gets_the_proofs_and_keeps_everything_else():
    one = loaded_service()
    (write,) = service.reconcile(one, view(loaded=[one]))
    assert isinstance(write, SetStatus)
    assert write.status["observedGeneration"] == 1
    assert said(write.status["conditions"]) == {
        "Ready": ("True", "AllComponentsReady"),
        "BridgeCompatible": ("True", "Compatible"),
    }
    assert write.status["status"] == "Running"


def test_a_bridge_can_report_a_service_as_incompatible():
    one = loaded_service()
    settings = Settings(incompatible=frozenset({"team-a/s"}))
    (write,) = service.reconcile(one, view(loaded=[one], settings=settings))
    assert said(write.status["conditions"])["BridgeCompatible"] == ("False", "IncompatibleShape")


def test_an_incompatible_service_keeps_the_reason_that_it_came_with():
    one = loaded_service()
    said_before = {"type": "BridgeCompatible", "status": "False", "reason": "TooOld", "message": "Look here."}
    one["status"] = {**RUNNING, "conditions": [*RUNNING["conditions"], said_before]}
    settings = Settings(incompatible=frozenset({"team-a/s"}))
    (write,) = service.reconcile(one, view(loaded=[one], settings=settings))
    (kept,) = [item for item in write.status["conditions"] if item["type"] == "BridgeCompatible"]
    assert (kept["status"], kept["reason"], kept["message"]) == ("False", "TooOld", "Look here.")


@pytest.mark.parametrize("keeps", [True, False])
def test_in_a_copied_cluster_a_service_without_status_gets_the_proofs_alone(keeps):
    one = objects.service(spec={"model": {"name": "m"}})
    writes = service.reconcile(one, view(loaded=[one], settings=Settings(keeps_loaded=keeps)))
    if keeps:
        (write,) = writes
        assert set(said(write.status["conditions"])) == {"BridgeCompatible"}
        assert "status" not in write.status
    else:
        assert isinstance(writes[0], Patch)  # its finalizer: it is taken for a new one


def test_an_operator_that_is_no_bridge_adds_nothing():
    one = loaded_service()
    (write,) = service.reconcile(one, view(loaded=[one], settings=Settings(misbehaviour=Misbehaviour.NO_BRIDGE)))
    assert write.status == RUNNING


def test_a_paused_service_is_not_written_to():
    one = loaded_service(annotations={"aim.eai.amd.com/reconciliation-paused": "true"})
    assert service.reconcile(one, view(loaded=[one])) == []


def test_a_new_service_gets_its_finalizer_first():
    (write,) = service.reconcile(objects.service(spec={"model": {"name": "m"}}), view())
    assert isinstance(write, Patch)
    assert write.patch["metadata"]["finalizers"] == FINALIZER


def test_a_changed_input_wakes_the_template_pipeline():
    one = loaded_service()
    model = obj("AIMModel", "m", status={"status": "Ready"}, generation=2)
    writes = service.reconcile(one, view(model, loaded=[one]))
    assert said(writes[-1].status["conditions"])["ModelReady"] == ("True", "ModelResolved")


def test_a_service_that_goes_takes_its_unfinished_caches_with_it():
    mine = {"aim.eai.amd.com/service": "s"}
    leaving = loaded_service(deletionTimestamp="2026-06-01T00:00:00Z")
    half = obj("AIMTemplateCache", "half", status={"status": "Progressing"}, labels=mine)
    done = obj("AIMTemplateCache", "done", status={"status": "Ready"}, labels=mine)
    alien = obj("AIMTemplateCache", "alien", labels={"aim.eai.amd.com/service": "t"})
    remove, release = service.reconcile(leaving, view(leaving, half, done, alien))
    assert isinstance(remove, Remove)
    assert remove.target["metadata"]["name"] == "half"
    assert release.patch["metadata"]["finalizers"] == []


def test_a_service_that_was_going_when_it_was_loaded_is_left_to_whatever_holds_it():
    leaving = loaded_service(deletionTimestamp="2026-06-01T00:00:00Z")
    assert service.reconcile(leaving, view(loaded=[leaving])) == []
