"""What removing a CRD would take with it, by owner references alone."""

from aim_template_migration.documents.plan import OwnerReference
from aim_template_migration.inspecting.remaining import Known, removals

V1, V2 = "aim.eai.amd.com/v1alpha1", "aim.eai.amd.com/v1alpha2"


def known(kind, name, *owners, version=V1):
    references = tuple(OwnerReference(version, owner.split("/")[0], owner.split("/")[1], owner) for owner in owners)
    return Known(f"{kind}/a/{name}", kind, f"{kind}/{name}", references)


def removed(*objects):
    return {item.crd.partition(".")[0]: item for item in removals({item.uid: item for item in objects})}


def test_nothing_there_means_nothing_to_say():
    assert removed(known("InferenceService", "i")) == {}


def test_collection_goes_on_through_owners_of_owners():
    found = removed(
        known("AIMServiceTemplate", "t"),
        known("AIMTemplateCache", "c", "AIMServiceTemplate/t"),
        known("AIMArtifact", "w", "AIMTemplateCache/c"),
        known("PersistentVolumeClaim", "p", "AIMArtifact/w"),
    )["aimservicetemplates"]
    assert found.cascades
    assert found.collected == ("AIMArtifact/a/w", "AIMTemplateCache/a/c", "PersistentVolumeClaim/a/p")


def test_one_living_owner_keeps_an_object():
    found = removed(
        known("AIMServiceTemplate", "t"), known("AIMTemplateCache", "c", "AIMServiceTemplate/t", "AIMService/s")
    )
    assert found["aimservicetemplates"].collected == ()


def test_an_owner_that_was_not_read_counts_as_living():
    found = removed(known("AIMArtifact", "w"), known("PersistentVolumeClaim", "p", "Elsewhere/x"))
    assert found["aimartifacts"].collected == ()
    assert found["aimartifacts"].cascades, "artifacts are weights"


def test_owners_that_form_a_ring_end_the_search():
    found = removed(known("AIMArtifact", "w", "AIMArtifact/w"), known("Pod", "p", "Pod/q"), known("Pod", "q", "Pod/p"))
    assert found["aimartifacts"].collected == ()


def test_a_version_that_owner_references_name():
    service = known("InferenceService", "i", "AIMService/s")
    assert removed(service)["aimservices"].deleted == ()
    assert removed(known("InferenceService", "i", "AIMService/s", version=V2)) == {}


def test_a_long_list_is_cut_in_the_sentence_and_whole_in_the_list():
    found = removed(*(known("AIMArtifact", f"w{number}") for number in range(9)))["aimartifacts"]
    assert len(found.deleted) == 9
    assert "and 6 more" in found.message
