"""Which profile a service resolves to: by name, by selector, by rank; and when it sticks."""

import pytest

from aim_rehearsal.operator.ranking import profile_rank
from aim_rehearsal.operator.resolution import resolve
from tests.aim_rehearsal.operator.objects import profile, service, view


def resolved(spec, *profiles, **fields):
    one = service(spec=spec, **fields)
    result = resolve(one, view(one, *profiles))
    return result.profile and result.profile["metadata"]["name"], result.condition.reason


def cluster_profile(name="p", **fields):
    return profile(name, kind="AIMClusterProfile", namespace="", **fields)


def test_a_name_is_looked_up_in_the_namespace_first():
    wanted = {"profile": {"name": "p"}}
    assert resolved(wanted, profile(), cluster_profile()) == ("p", "ProfileResolved")
    assert resolved(wanted, cluster_profile()) == ("p", "ProfileResolved")
    assert resolved(wanted) == (None, "ProfileNotFound")


def test_a_profile_that_is_not_ready_or_names_no_model_serves_nobody():
    wanted = {"profile": {"name": "p"}}
    assert resolved(wanted, profile(ready=False)) == ("p", "ProfileNotReady")
    assert resolved(wanted, profile(spec={"aimId": "", "modelSources": []})) == (None, "BaseProfile")


SELECT = {"profile": {"selector": {"aimId": "acme/tiny"}}}
BEST = {"type": "optimized"}


def test_namespaced_candidates_beat_better_cluster_wide_ones():
    own, wide = (
        profile("own", spec={"type": "optimized"}),
        cluster_profile("wide", spec={"type": "optimized", "primary": True}),
    )
    assert resolved(SELECT, own, wide)[0] == "own"


@pytest.mark.parametrize(
    ("selector", "spec", "found"),
    [
        ({"aimId": "acme/tiny", "metric": "latency"}, {"metric": "latency"}, True),
        ({"aimId": "acme/tiny", "metric": "latency"}, {"metric": "throughput"}, False),
        ({"aimId": "acme/tiny", "acceleratorCount": 0}, {"acceleratorCount": 1}, False),
        ({"aimId": "acme/tiny", "engineArgs": {"a": 2}}, {"engineArgs": {"a": 2, "b": 1}}, True),
        ({"aimId": "acme/tiny", "engineArgs": {"a": "2"}}, {"engineArgs": {"a": 2}}, False),
        (
            {"aimId": "acme/tiny", "acceleratorPartitioningMode": "CPX"},
            {"acceleratorPartitioningMode": "CPX-NPS4"},
            True,
        ),
        ({"aimId": "acme/tiny", "acceleratorPartitioningMode": "partitioned"}, {}, False),
        ({"aimId": "acme/tiny", "modelRef": {"name": "m"}}, {}, False),
        ({"aimId": "acme/other"}, {}, False),
    ],
)
def test_a_selector_is_strict(selector, spec, found):
    candidate = profile(spec=BEST | spec)
    assert (resolved({"profile": {"selector": selector}}, candidate)[0] == "p") is found


@pytest.mark.parametrize(
    ("floor", "kind", "policy", "found"),
    [
        (None, "optimized", "optimized", True),
        (None, "general", "optimized", False),
        (None, "unoptimized", "any", True),
        ("general", "general", "optimized", True),
        ("general", "preview", "any", False),
        ("any", "unoptimized", "optimized", True),
    ],
)
def test_the_type_floor_and_its_second_pass(floor, kind, policy, found):
    selector = {"aimId": "acme/tiny"} | ({"minimumType": floor} if floor else {})
    candidate = profile(spec={"type": kind, "autoSelectionPolicy": policy})
    assert (resolved({"profile": {"selector": selector}}, candidate)[0] == "p") is found


def test_an_overlay_never_qualifies():
    overlay = profile(spec=BEST, annotations={"aim.eai.amd.com/overlay-service": "s"})
    assert resolved(SELECT, overlay)[0] is None


def test_a_binding_sticks_until_it_is_forced():
    better, bound = profile("better", spec=BEST | {"primary": True}), profile("bound", spec=BEST)
    status = {"resolvedProfile": {"name": "bound"}}
    assert resolved(SELECT, better, bound, status=status)[0] == "bound"
    forced = {"aim.eai.amd.com/force-rebind": "now"}
    assert resolved(SELECT, better, bound, status=status, annotations=forced)[0] == "better"


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"primary": True, "type": "preview"}, {"type": "optimized"}),
        ({"type": "optimized"}, {"type": "general"}),
        ({"acceleratorModel": "MI325X"}, {"acceleratorModel": "MI300X"}),
        ({"acceleratorModel": "MI210"}, {"acceleratorModel": "H100"}),
        ({"metric": "latency"}, {"metric": "throughput"}),
        ({"precision": "fp8"}, {"precision": "fp16"}),
        ({"acceleratorCount": 1}, {"acceleratorCount": 2}),
        ({"acceleratorCount": 8}, {"acceleratorCount": 0}),
        ({"acceleratorType": "gpu"}, {"acceleratorType": "cpu"}),
        ({"image": "r/x:0.10.0"}, {"image": "r/x:0.9.2"}),
    ],
)
def test_the_ranking_is_this_order(better, worse):
    assert profile_rank(profile("z", spec=better)) < profile_rank(profile("a", spec=worse))


def test_readiness_ranks_first_and_the_name_last():
    assert profile_rank(profile("z")) < profile_rank(profile("a", ready=False, spec={"primary": True}))
    assert profile_rank(profile("a")) < profile_rank(profile("b"))
