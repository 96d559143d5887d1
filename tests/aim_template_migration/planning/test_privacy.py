"""A secret planted anywhere in the closure appears in no file, and keeps the unit from being automatic."""

import json
from collections.abc import Iterator

import pytest

from aim_api.tree import JsonObject, field_path, leaves
from tests.support.fleet import Fleet, happy_fleet

CANARY = "ghp_" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAbCdE"
IDENTITY = [
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "ownerReferences",
    "finalizers",
    "managedFields",
]
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def places() -> Iterator[tuple[str, tuple[str | int, ...]]]:
    fleet = rich_fleet()
    for key, obj in fleet.objects.items():
        for path, value in leaves(obj):
            if isinstance(value, str) and path[0] not in ("apiVersion", "kind") and not _unused(path):
                yield key, path


def _unused(path: tuple[str | int, ...]) -> bool:
    return (path[0] == "metadata" and path[1] in IDENTITY) or path[-1] == "lastTransitionTime"


def rich_fleet() -> Fleet:
    """Return the healthy fleet with more places where a value can stand."""
    fleet = happy_fleet()
    fleet.only("AIMServiceTemplate")["spec"]["env"] = [
        {"name": "AIM_ENGINE_ARGS", "value": '{"a": "b"}'},
        {"name": "LOG", "value": "x"},
    ]
    fleet.only("AIMServiceTemplate")["status"]["profile"] = {"env_vars": {"V": "1"}, "metadata": {"engine": "vllm"}}
    fleet.only("AIMService")["metadata"]["annotations"] = {
        "note": "x",
        LAST_APPLIED: "{}",
    }
    fleet.only("AIMModel")["metadata"]["labels"] = {"team": "search"}
    fleet.add(
        "AIMRuntimeConfig",
        "aim.eai.amd.com/v1alpha1",
        "default",
        "team-a",
        manager="kubectl",
        spec={"env": [{"name": "A", "value": "b"}]},
    )
    assert fleet.codes() == []
    return fleet


def plant(obj: JsonObject, path: tuple[str | int, ...], value: str) -> None:
    node = obj
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value


PLACES = list(places())


@pytest.mark.parametrize(
    ("key", "path"), PLACES, ids=[f"{key.split('/')[0]} {field_path(path)}" for key, path in PLACES]
)
def test_a_planted_secret_is_in_no_file(key: str, path: tuple[str | int, ...]):
    fleet = rich_fleet()
    plant(fleet.objects[key], path, CANARY)
    files = fleet.files()
    for name, data in files.files.items():
        assert CANARY.encode() not in data, name
    (unit,) = [unit for unit in files.plan.units if unit.id == "AIMService/team-a/qwen-chat"]
    assert unit.disposition == "manual"
    belongs = path != ("spec", "sourceUri")  # an artifact of another source is no part of the closure
    if path[0] != "status" and belongs:
        assert "SecretLiteral" in [reason.code for reason in unit.reasons]


@pytest.mark.parametrize("shape", ["{secret}", "prefix {secret} suffix", '{{"spec": {{"x": "{secret}"}}}}'])
def test_a_secret_inside_a_longer_text(shape: str):
    fleet = rich_fleet()
    annotations = fleet.only("AIMService")["metadata"]["annotations"]
    annotations[LAST_APPLIED] = shape.format(secret=CANARY)
    files = fleet.files()
    assert all(CANARY.encode() not in data for data in files.files.values())
    assert fleet.codes() == ["SecretLiteral"]


def test_a_secret_among_field_managers():
    fleet = rich_fleet()
    fleet.only("AIMService")["metadata"]["managedFields"][0]["manager"] = CANARY
    assert all(CANARY.encode() not in data for data in fleet.files().files.values())


def test_dedicated_evidence_holds_no_secret():
    fleet = rich_fleet()
    fleet.only("AIMService")["spec"]["caching"]["mode"] = "Dedicated"
    fleet.only("AIMTemplateCache")["status"]["artifacts"]["x"] = {
        "name": CANARY,
        "uid": "u",
        "model": CANARY,
        "status": "Ready",
    }
    fleet.only("AIMService")["spec"]["serviceAccountName"] = CANARY
    files = fleet.files()
    assert len(files.evidence_files) == 1
    assert all(CANARY.encode() not in data for data in files.files.values())


def test_digests_do_not_depend_on_a_secret():
    """The digest of a short secret can be guessed, so two secrets in one place give the same digests."""
    plans = []
    for secret in ("hunter2", "correct horse"):
        fleet = rich_fleet()
        fleet.only("AIMServiceTemplate")["spec"]["env"] = [{"name": "HF_TOKEN", "value": secret}]
        plans.append(fleet.files().files["plan.json"])
    assert plans[0] == plans[1]
    assert b"hunter2" not in plans[0]


def test_referenced_secrets_are_named_with_their_keys_and_warned_about():
    fleet = rich_fleet()
    fleet.only("AIMServiceTemplate")["spec"]["env"] = [
        {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf-token", "key": "token"}}}
    ]
    fleet.only("AIMService")["spec"]["imagePullSecrets"] = [{"name": "pull"}]
    unit = fleet.unit()
    assert unit.disposition == "automatic"
    assert json.loads(json.dumps([[ref.namespace, ref.name, list(ref.keys)] for ref in unit.secret_refs])) == [
        ["team-a", "hf-token", ["token"]],
        ["team-a", "pull", []],
    ]
    assert "SecretsReferenced" in [warning.code for warning in unit.warnings]
