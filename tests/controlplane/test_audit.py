"""The audit checker on events written by hand."""

import json
from pathlib import Path

import pytest

from tests.support.audit import AuditLogError, AuditTrail, Json

AIM = "aim.eai.amd.com"


def entry(
    verb: str = "create",
    resource: str = "aimprofiles",
    *,
    user: str = "tool",
    group: str = AIM,
    subresource: str = "",
    query: str = "",
    body: Json = None,
    code: int | None = 201,
    second: int = 0,
    **fields: Json,
) -> dict[str, Json]:
    reference: dict[str, Json] = {"resource": resource, "namespace": "ns", "name": "x", "apiVersion": "v1alpha2"}
    if group:
        reference["apiGroup"] = group
    if subresource:
        reference["subresource"] = subresource
    event: dict[str, Json] = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "stage": "ResponseComplete",
        "verb": verb,
        "user": {"username": user},
        "requestURI": f"/apis/{AIM}/v1alpha2/namespaces/ns/{resource}/x{query}",
        "objectRef": reference,
        "requestReceivedTimestamp": f"2026-01-01T00:00:{second:02}.000000Z",
    }
    if code is not None:
        event["responseStatus"] = {"code": code}
    if body is not None:
        event["requestObject"] = body
    return event | fields


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "audit.log"


def trail(log: Path, *events: dict[str, Json]) -> AuditTrail:
    log.write_text("".join(f"{json.dumps(event)}\n" for event in events))
    return AuditTrail.read(log)


def test_requests_are_in_the_order_of_their_arrival(log: Path) -> None:
    # A log has them in the order of their answers.
    found = trail(log, entry("patch", second=3), entry("create", second=1), entry("watch", second=2))
    assert [event.verb for event in found.requests("tool")] == ["create", "watch", "patch"]


def test_identities_are_told_apart(log: Path) -> None:
    found = trail(log, entry(user="tool"), entry("update", user="operator"), entry("get", user="reader"))
    assert found.identities == ["operator", "reader", "tool"]
    assert [event.verb for event in found.mutations("operator")] == ["update"]
    assert found.mutations("reader") == []
    found.assert_no_mutations("reader")


def test_what_is_done_in_an_identitys_name_is_its_own(log: Path) -> None:
    found = trail(log, entry(user="admin", impersonatedUser={"username": "tool"}))
    assert len(found.mutations("tool")) == len(found.mutations("admin")) == 1
    assert found.writers("aimprofiles", AIM) == ["tool"]


def test_the_stages_of_one_request_are_one_request(log: Path) -> None:
    first = entry(stage="ResponseStarted", auditID="a", code=None)
    last = entry(auditID="a", body={"kind": "AIMProfile"})
    for events in ((first, last), (last, first)):
        (event,) = trail(log, *events).mutations("tool")
        assert event.stage == "ResponseComplete"
        assert event.code == 201
        assert event.request_object == {"kind": "AIMProfile"}


def test_a_request_without_an_answer_counts(log: Path) -> None:
    found = trail(log, entry("watch", "secrets", group="", stage="ResponseStarted", code=None, auditID="a"))
    with pytest.raises(AssertionError, match="watch secrets ns/x unanswered"):
        found.assert_no_secret_reads("tool")


def test_events_without_an_id_are_requests_of_their_own(log: Path) -> None:
    assert len(trail(log, entry(), entry()).mutations("tool")) == 2


def test_a_dry_run_is_one_whose_every_value_is_all(log: Path) -> None:
    def is_dry_run(query: str) -> bool:
        (event,) = trail(log, entry(query=query)).mutations("tool")
        return event.is_dry_run

    assert is_dry_run("?dryRun=All")
    assert is_dry_run("?fieldManager=x&dryRun=All&fieldValidation=Strict")
    assert is_dry_run("?dryRun=%41ll")
    for query in (
        "",
        "?dryRun=",
        "?dryRun=all",
        "?dryRun=All&dryRun=None",
        "?dryrun=All",
        "?x=dryRun=All",
        "#?dryRun=All",
    ):
        assert not is_dry_run(query), query


@pytest.mark.parametrize("verb", ["delete", "deletecollection"])
def test_a_deletion_with_a_body_ignores_the_uri(log: Path, verb: str) -> None:
    def is_dry_run(query: str, body: Json) -> bool:
        (event,) = trail(log, entry(verb, query=query, body=body)).mutations("tool")
        return event.is_dry_run

    assert is_dry_run("?dryRun=All", None)
    assert is_dry_run("", {"kind": "DeleteOptions", "dryRun": ["All"]})
    assert not is_dry_run("?dryRun=All", {"kind": "DeleteOptions"})
    assert not is_dry_run("?dryRun=All", {"kind": "DeleteOptions", "dryRun": []})
    assert not is_dry_run("", None)


def test_a_body_never_makes_another_write_a_dry_run(log: Path) -> None:
    (event,) = trail(log, entry("create", body={"dryRun": ["All"]})).mutations("tool")
    assert not event.is_dry_run


def test_only_dry_runs_pass_where_only_dry_runs_are_wanted(log: Path) -> None:
    good = [entry("get"), entry("create", query="?dryRun=All"), entry("patch", query="?dryRun=All")]
    trail(log, *good).assert_only_dry_runs("tool")
    with pytest.raises(AssertionError, match=rf"'tool' sent 1 mutating .*:\n  update aimprofiles\.{AIM} ns/x 409$"):
        trail(log, *good, entry("update", code=409)).assert_only_dry_runs("tool")


@pytest.mark.parametrize(
    "resource",
    ["selfsubjectaccessreviews", "selfsubjectrulesreviews", "subjectaccessreviews", "localsubjectaccessreviews"],
)
def test_access_reviews_are_no_mutations(log: Path, resource: str) -> None:
    found = trail(log, entry("create", resource, group="authorization.k8s.io"))
    assert found.mutations("tool") == []
    found.assert_only_dry_runs("tool")
    # A kind of the same name elsewhere is stored like any other.
    assert len(trail(log, entry("create", resource, group=AIM)).mutations("tool")) == 1


@pytest.mark.parametrize("verb", ["create", "update", "patch", "delete", "deletecollection", "post", "put", "mystery"])
def test_whatever_is_not_known_to_read_is_a_mutation(log: Path, verb: str) -> None:
    with pytest.raises(AssertionError, match="1 mutating requests without"):
        trail(log, entry(verb)).assert_only_dry_runs("tool")


@pytest.mark.parametrize("subresource", ["exec", "attach", "portforward", "proxy"])
def test_reading_a_subresource_that_acts_is_a_mutation(log: Path, subresource: str) -> None:
    found = trail(log, entry("get", "pods", group="", subresource=subresource))
    assert [str(event) for event in found.mutations("tool")] == [f"get pods/{subresource} ns/x 201"]


def test_deletes_are_found_even_as_dry_runs_and_as_evictions(log: Path) -> None:
    trail(log, entry("create"), entry("patch")).assert_no_deletes("tool")
    for event in (
        entry("delete", query="?dryRun=All"),
        entry("deletecollection"),
        entry("delete", code=403),
        entry("create", "pods", group="", subresource="eviction"),
    ):
        with pytest.raises(AssertionError, match="'tool' sent 1 deletes"):
            trail(log, event).assert_no_deletes("tool")


@pytest.mark.parametrize("verb", ["get", "list", "watch", "patch", "create"])
def test_every_request_about_secrets_is_found(log: Path, verb: str) -> None:
    with pytest.raises(AssertionError, match="requests about Secrets"):
        trail(log, entry(verb, "secrets", group="", code=403)).assert_no_secret_reads("tool")
    trail(log, entry(verb, "secrets", group=AIM), entry("get", "configmaps", group="")).assert_no_secret_reads("tool")


def test_writes_are_what_was_really_stored(log: Path) -> None:
    found = trail(
        log,
        entry("create", query="?dryRun=All"),
        entry("create", code=409),
        entry("patch", code=None),
        entry("update", code=200),
        entry("create", "aimservices", user="operator"),
    )
    assert [event.verb for event in found.writes("tool")] == ["update"]
    assert found.writers("aimprofiles", AIM) == ["tool"]
    assert found.writers("aimservices", AIM) == ["operator"]
    assert found.writers("aimservices") == []


def test_a_path_that_is_no_object_is_shown_as_it_is(log: Path) -> None:
    event = entry("post", requestURI="/odd?x=1")
    del event["objectRef"]
    assert [str(request) for request in trail(log, event).mutations("tool")] == ["post /odd?x=1 201"]


def test_an_identity_without_requests_passes_no_check(log: Path) -> None:
    found = trail(log, entry(user="operator"))
    for check in (found.assert_only_dry_runs, found.assert_no_deletes, found.assert_no_secret_reads):
        with pytest.raises(AssertionError, match="no request of 'tool'; it has requests of operator"):
            check("tool")


def test_long_lists_are_cut(log: Path) -> None:
    with pytest.raises(AssertionError, match=r"sent 25 mutating requests:\n(  create .*\n){20}  and 5 more$"):
        trail(log, *(entry() for _ in range(25))).assert_no_mutations("tool")


def test_reading_may_begin_later_and_leaves_out_an_unfinished_line(log: Path) -> None:
    first = json.dumps(entry("create")) + "\n"
    log.write_text(first + json.dumps(entry("patch")) + "\n" + json.dumps(entry("update"))[:-5])
    assert [event.verb for event in AuditTrail.read(log).events] == ["create", "patch"]
    assert [event.verb for event in AuditTrail.read(log, len(first)).events] == ["patch"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "no JSON"),
        ("[]", "no audit.k8s.io/v1 Event"),
        (json.dumps(entry(kind="EventList")), "no audit.k8s.io/v1 Event"),
        (json.dumps(entry(stage="Done")), "the stage 'Done' is none of"),
        (json.dumps(entry(verb="")), "verb is missing"),
        (json.dumps(entry(requestURI=None)), "requestURI is missing"),
        (json.dumps(entry(requestReceivedTimestamp="yesterday")), "requestReceivedTimestamp is no time"),
        (json.dumps(entry(requestReceivedTimestamp="2026-01-01T00:00:00")), "has no time zone"),
    ],
)
def test_a_line_that_is_no_event_is_never_skipped(log: Path, line: str, problem: str) -> None:
    log.write_text(json.dumps(entry()) + "\n" + line + "\n")
    with pytest.raises(AuditLogError, match=rf"audit\.log, line 2: .*{problem}"):
        AuditTrail.read(log)
