"""A plan can't reach other objects, other fields or another order, whatever stands in it."""

import copy

import msgspec
import pytest

from aim_template_migration.applying.structure import structural_faults
from aim_template_migration.documents.plan import decode_plan, encode_plan
from tests.support.fleet import add_service, happy_fleet


@pytest.fixture(scope="module")
def document():
    fleet = happy_fleet()
    add_service(fleet, "second", namespace="team-b", template="t2", model="m2", uri="hf://a/b")
    return msgspec.json.decode(encode_plan(fleet.plan()))


def faults(document, change):
    edited = copy.deepcopy(document)
    change(edited)
    return structural_faults(decode_plan(msgspec.json.encode(edited)))


def unit(document):
    return document["units"][0]


def step(document, name):
    return next(item for item in unit(document)["steps"] if item["step"] == name)


def target(document, kind):
    return next(item for item in document["targets"] if item["id"].startswith(f"{kind}/team-a/"))


def pin(document, role):
    return next(item for item in unit(document)["pins"] if item["role"] == role)


def test_what_plan_makes_is_sound(document):
    assert faults(document, lambda _: None) == ()


TARGETS = [
    lambda d: target(d, "AIMProfile")["body"].update(kind="Secret"),
    lambda d: target(d, "AIMProfile")["body"].update(apiVersion="v1"),
    lambda d: target(d, "AIMProfile")["body"]["metadata"].update(namespace="kube-system"),
    lambda d: target(d, "AIMProfile")["body"]["metadata"].update(name="../x"),
    lambda d: target(d, "AIMProfile")["body"]["metadata"].update(finalizers=["x"]),
    lambda d: target(d, "AIMProfile")["body"]["metadata"].update(ownerReferences=[]),
    lambda d: target(d, "AIMProfile")["body"].update(status={}),
    lambda d: target(d, "AIMProfile")["body"]["spec"].update(caching={"enabled": True}),
    lambda d: target(d, "AIMProfileCache")["body"]["spec"].update(mode="Dedicated"),
    lambda d: d.update(namespaces=["team-b"]),
    lambda d: d["targets"].append(copy.deepcopy(d["targets"][0])),
    lambda d: d["targets"].clear(),
]
UNITS = [
    lambda d: d["units"].append(copy.deepcopy(d["units"][0])),
    lambda d: unit(d).update(id="AIMService/team-a"),
    lambda d: unit(d).update(id="AIMService//x"),
    lambda d: unit(d).update(id="AIMModel/team-a/qwen-chat"),
    lambda d: unit(d).update(id="AIMService/team-b/second"),
    lambda d: unit(d).update(outcome="DedicatedHandoffRequiresQuiescence"),
    lambda d: unit(d).update(reasons=[{"code": "x", "object": "y", "message": "z"}]),
    lambda d: unit(d).update(evidence={"file": "f", "sha256": "0"}),
    lambda d: d.update(cluster={"kubeSystemUid": "", "crds": []}),
]
ORDER = [
    lambda d: unit(d).update(steps=[]),
    lambda d: unit(d)["steps"].reverse(),
    lambda d: unit(d)["steps"].pop(),
    lambda d: unit(d)["steps"].pop(1),
    lambda d: unit(d)["steps"].remove(step(d, "ProtectArtifact")),
    lambda d: unit(d)["steps"].remove(step(d, "ReverifyProfileCache")),
    lambda d: unit(d)["steps"].append(step(d, "CutOver")),
    lambda d: unit(d)["steps"].remove(step(d, "CreateProfile")),
    lambda d: unit(d)["steps"].insert(4, copy.deepcopy(step(d, "ProtectArtifact"))),
]
REFERENCES = [
    lambda d: step(d, "CreateProfile").update(target="AIMProfile/team-b/t2"),
    lambda d: step(d, "CreateProfile").update(target=step(d, "CreateProfileCache")["target"]),
    lambda d: step(d, "AwaitProfile")["profile"].update(name="other"),
    lambda d: step(d, "AwaitProfile")["profile"].update(kind="AIMClusterProfile", namespace=""),
    lambda d: step(d, "AwaitProfileCache")["profileCache"].update(namespace="team-b"),
    lambda d: step(d, "AwaitProfileCache")["profileCache"].update(name="other"),
    lambda d: step(d, "ReverifyProfileCache")["profileCache"].update(name="other"),
    lambda d: step(d, "ReverifyProfileCache").update(artifacts=[]),
    lambda d: step(d, "AwaitProfileCache")["artifacts"][0].update(uid="x"),
    lambda d: step(d, "AwaitProfileCache")["artifacts"][0].update(pvcUid="x"),
    lambda d: step(d, "ProtectArtifact").update(uid="x"),
    lambda d: step(d, "ProtectArtifact")["artifact"].update(namespace="team-b"),
    lambda d: step(d, "ConfirmNoRollout")["service"].update(name="other"),
    lambda d: step(d, "ConfirmNoRollout").update(inferenceServiceUid="x"),
    lambda d: step(d, "ConfirmNoRollout").update(inferenceServiceGeneration=2),
    lambda d: step(d, "ConfirmNoRollout").update(profileName="other"),
    lambda d: step(d, "ConfirmNoRollout").update(deadlineSeconds=601),
    lambda d: step(d, "ConfirmNoRollout").update(deadlineSeconds=0),
]
PINS = [
    lambda d: pin(d, "model")["reference"].update(kind="Secret", apiVersion="v1"),
    lambda d: pin(d, "model")["reference"].update(namespace="team-b"),
    lambda d: pin(d, "model")["reference"].update(name="a/b"),
    lambda d: unit(d)["pins"].remove(pin(d, "service")),
    lambda d: unit(d)["pins"].remove(pin(d, "inferenceService")),
    lambda d: unit(d)["pins"].remove(pin(d, "deployment")),
    lambda d: unit(d)["pins"].remove(pin(d, "artifact")),
    lambda d: unit(d)["pins"].remove(pin(d, "pvc")),
    lambda d: unit(d)["pins"].remove(pin(d, "targetProfile")),
    lambda d: pin(d, "inferenceService").update(uid="x"),
    lambda d: pin(d, "service").update(generation=9),
]
CUTOVER = [
    lambda d: step(d, "CutOver")["service"].update(name="other"),
    lambda d: step(d, "CutOver").update(uid="x"),
    lambda d: step(d, "CutOver").update(generation=5, pinnedGeneration=6),
    lambda d: step(d, "CutOver").update(pinnedGeneration=3),
    lambda d: step(d, "CutOver").update(pinnedInferenceServiceUid="x"),
    lambda d: step(d, "CutOver")["operations"].append({"op": "add", "path": "/spec/replicas", "value": 0}),
    lambda d: step(d, "CutOver")["operations"].append({"op": "remove", "path": "/spec/model"}),
    lambda d: step(d, "CutOver")["operations"].append({"op": "remove", "path": "/spec/template"}),
    lambda d: step(d, "CutOver")["operations"].pop(),
    lambda d: step(d, "CutOver")["operations"].pop(1),
    lambda d: step(d, "CutOver")["operations"][1]["value"].update(selector={}),
    lambda d: step(d, "CutOver")["operations"][1]["value"].update(name="other"),
    lambda d: step(d, "CutOver")["operations"][1].update({"from": "/spec/model"}),
    lambda d: step(d, "CutOver")["operations"][2]["value"].update(other="annotation"),
    lambda d: step(d, "CutOver")["operations"][2]["value"].update(other={"not": "a string"}),
    lambda d: step(d, "CutOver").update(operations=[]),
]


@pytest.mark.parametrize("change", [*TARGETS, *UNITS, *ORDER, *REFERENCES, *PINS, *CUTOVER])
def test_each_way_out_is_shut(document, change):
    found = faults(document, change)
    assert found
    assert all(isinstance(fault, str) and len(fault) > 10 for fault in found)


def test_manual_units_are_no_concern(document):
    def change(edited):
        unit(edited).update(disposition="manual", steps=[], id="Whatever")

    assert faults(document, change) == ()


def test_single_annotations_are_as_good_as_the_whole_map(document):
    def change(edited):
        operations = step(edited, "CutOver")["operations"]
        whole = operations.pop()
        for key, value in whole["value"].items():
            operations.append({"op": "add", "path": f"/metadata/annotations/{key.replace('/', '~1')}", "value": value})

    assert faults(document, change) == ()


def test_existing_annotations_do_not_matter(document):
    fleet = happy_fleet()
    fleet.only("AIMService")["metadata"]["annotations"] = {"team": "search"}
    assert structural_faults(fleet.plan()) == ()
