"""Would a selector choose the new profile? Filter and order of the operator."""

import pytest

from aim_api.kinds import AIM_PROFILE, AIM_SERVICE
from aim_template_migration.planning.resolution import selector_of, would_choose
from aim_template_migration.planning.snapshot import Observed

NEW = {
    "aimId": "a/b",
    "modelSources": [{"modelId": "a/b", "sourceUri": "hf://a/b"}],
    "type": "optimized",
    "metric": "latency",
    "precision": "fp8",
    "acceleratorModel": "MI300X",
    "acceleratorCount": 2,
    "engineArgs": {"dtype": "auto"},
    "autoSelectionPolicy": "optimized",
}


def new(**spec: object) -> dict:
    return {"metadata": {"name": "new"}, "spec": NEW | spec}


def rival(status: str = "Ready", labels: dict | None = None, **spec: object) -> Observed:
    metadata = {"name": "rival", "labels": labels or {}}
    return Observed(AIM_PROFILE, {"metadata": metadata, "spec": NEW | spec, "status": {"status": status}})


@pytest.mark.parametrize(
    "selector",
    [
        {"aimId": "a/b"},
        {"aimId": "a/b", "metric": "latency", "precision": "fp8"},
        {"aimId": "a/b", "acceleratorCount": 2},
        {"aimId": "a/b", "engineArgs": {"dtype": "auto"}},
        {"aimId": "a/b", "origin": "user-authored"},
        {"aimId": "a/b", "minimumType": "any"},
        {},
    ],
)
def test_selectors_that_fit(selector):
    assert would_choose(selector, new(), [])


@pytest.mark.parametrize(
    "selector",
    [
        {"aimId": "a/c"},
        {"aimId": "a/b", "metric": "throughput"},
        {"aimId": "a/b", "acceleratorCount": 0},
        {"aimId": "a/b", "engineArgs": {"dtype": "float16"}},
        {"aimId": "a/b", "origin": "discovered"},
        {"modelRef": {"name": "some-model"}},
        {"modelRef": {}},
    ],
)
def test_selectors_that_do_not_fit(selector):
    assert not would_choose(selector, new(), [])


def test_a_base_profile_is_never_chosen():
    assert not would_choose({}, new(modelSources=[]), [])


def test_the_implied_floor_and_the_second_pass():
    assert not would_choose({"aimId": "a/b"}, new(type="preview"), [])
    assert would_choose({"aimId": "a/b", "minimumType": "preview"}, new(type="preview"), [])
    assert would_choose({"aimId": "a/b"}, new(type="preview", autoSelectionPolicy="any"), [])
    assert not would_choose({"aimId": "a/b"}, new(type="preview", autoSelectionPolicy="any"), [rival()])


@pytest.mark.parametrize(
    ("present", "chosen"),
    [
        (rival(primary=True), False),
        (rival(acceleratorModel="MI325X"), False),
        (rival(acceleratorCount=1), False),
        (rival(precision="fp4"), False),
        (rival(), True),  # version and name decide, which is not certain enough to rely on
        (rival(metric="throughput"), True),
        (rival("NotAvailable", primary=True), True),
        (rival(primary=True, aimId="x/y"), True),
    ],
)
def test_a_rival_counts_only_where_it_surely_wins(present, chosen):
    assert would_choose({"aimId": "a/b"}, new(), [present]) is chosen


def service(spec: dict, **annotations: str) -> Observed:
    return Observed(AIM_SERVICE, {"metadata": {"name": "s", "annotations": annotations}, "spec": spec})


def test_which_services_select():
    assert selector_of(service({"profile": {"name": "x"}})) is None
    assert selector_of(service({"model": {"name": "m"}})) is None
    assert selector_of(service({"profile": {"selector": {"aimId": "a/b"}}})) == {"aimId": "a/b"}
    paired = {"model": {"name": "m"}, "profile": {"selector": {"metric": "latency"}}}
    assert selector_of(service(paired)) == {"metric": "latency", "modelRef": {"name": "m"}}
    annotated = service({"model": {"name": "m"}}, **{"aim.eai.amd.com/reconciler-pipeline": "profile"})
    assert selector_of(annotated) == {"modelRef": {"name": "m"}}
