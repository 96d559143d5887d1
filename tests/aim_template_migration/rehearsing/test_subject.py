"""What is said of a copied original: which proofs it lacks, and what the rehearsal's CRDs do not know."""

import pytest

from aim_template_migration.documents.plan import ClusterIdentity
from aim_template_migration.rehearsing.subject import missing_proofs, named, unknown_content


def service(name="s", *, status="True", observed=2, seen=2):
    conditions = (
        []
        if status is None
        else [{"type": "BridgeCompatible", "status": status, "reason": "R", "observedGeneration": observed}]
    )
    return {
        "apiVersion": "aim.eai.amd.com/v1alpha2",
        "kind": "AIMService",
        "metadata": {"name": name, "namespace": "n", "generation": 2},
        "spec": {"model": {"name": "m"}},
        "status": {"observedGeneration": seen, "conditions": conditions},
    }


def test_nothing_is_lacking_where_the_bridge_has_spoken():
    assert missing_proofs([service(), service("refused", status="False")]) == ()


@pytest.mark.parametrize(
    "lacking", [service("x", status=None), service("x", status="Unknown"), service("x", observed=1)]
)
def test_a_service_of_which_the_bridge_has_not_spoken_is_named(lacking):
    (phrase,) = missing_proofs([service(), lacking])
    assert phrase.startswith("BridgeCompatible=True at the present generation of 1 of 2 copied services")
    assert phrase.endswith("AIMService/n/x")


def test_no_word_of_a_bridge_means_that_there_may_be_none():
    (phrase,) = missing_proofs([service(status=None), service("t", status=None)])
    assert phrase.startswith("the bridge itself: ")


def test_generations_that_nobody_has_observed_are_named():
    (phrase,) = missing_proofs([service(), service("x", seen=1)])
    assert phrase.startswith("status.observedGeneration of 1 of 2 copied services")


def test_nothing_is_added_to_a_service_that_is_being_deleted():
    going = service("x", status=None, seen=1)
    going["metadata"]["deletionTimestamp"] = "2026-06-02T09:00:00Z"
    assert missing_proofs([service(), going]) == ()


def test_missing_definitions_come_first():
    identity = ClusterIdentity(kube_system_uid="", crds=(), server_version="")
    assert missing_proofs([service()], identity)[0].startswith("the CRDs of a bridge build")


def test_fields_that_the_next_write_would_drop_are_named():
    odd = service()
    odd["spec"]["fromTheFuture"] = True
    (sentence,) = unknown_content([service("plain"), odd])
    assert sentence.startswith(
        "1 object has fields that the rehearsal's CRDs do not know, for example AIMService/n/s: "
    )
    assert "spec.fromTheFuture" in sentence
    assert unknown_content([service()]) == ()


def test_only_the_first_names_are_told():
    assert named(["a", "b", "c"]) == "a, b, c"
    assert named(str(number) for number in range(1, 1004)) == "1, 2, 3 and 1,000 more"
