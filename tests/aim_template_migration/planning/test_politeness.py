"""What a plan asks of a server: pages, few at a time, patiently, and nothing of what it was not told to read."""

import re
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import pytest

from aim_rehearsal.apiserver.errors import ApiError
from aim_rehearsal.apiserver.messages import json_response
from aim_template_migration.kube import ConnectionOptions, connect
from aim_template_migration.kube.connecting import IN_FLIGHT
from aim_template_migration.kube.errors import TooManyRequests
from aim_template_migration.kube.listing import PAGE_SIZE
from aim_template_migration.kube.pacing import Pacing
from aim_template_migration.planning.make import Settings, make_plan
from benchmarks.page_server import PageCore, one_namespace, serving, space_name

RETRY_AFTER = 7


@pytest.fixture(scope="module")
def session():
    with one_namespace(4) as session:
        yield session


class Throttling(PageCore):
    """Refuses the first ``refusals`` attempts of every list, and notes what was asked."""

    def __init__(self, *arguments, refusals=0, **options):
        super().__init__(*arguments, **options)
        self.refusals = refusals
        self.attempts = {}
        self.headers = []

    def handle(self, request):
        self.headers.append(request.headers)
        number = self.attempts[request.target] = self.attempts.get(request.target, 0) + 1
        if "limit=" in request.target and number <= self.refusals:
            error = ApiError(429, "TooManyRequests", "the server is busy")
            return json_response(429, error.status).with_headers(("Retry-After", str(RETRY_AFTER)))
        return super().handle(request)


def planned(core, folder, *names, waits=None):
    """Make a plan of namespaces and return it; waits are noted, not waited."""
    pacing = Pacing(sleep=(waits if waits is not None else []).append, jitter=lambda: 0.0)
    with serving(core, folder) as kubeconfig:
        cluster = connect(ConnectionOptions(kubeconfig=str(kubeconfig)), pacing=pacing, environ={})
        try:
            settings = Settings(namespaces=names, runtime_projection_mode="Both")
            return make_plan(cluster, settings, now=datetime.now(UTC), plan_id="polite").plan
        finally:
            cluster.close()


def namespaces(number):
    return tuple(space_name(index) for index in range(number))


def test_every_list_is_asked_for_in_pages_and_compressed(session, tmp_path):
    core = Throttling(session, 2)
    planned(core, tmp_path, *namespaces(2))
    asked = core.report().lists
    assert len(asked) == len(set(asked)) > 20
    for target in asked:
        assert 0 < int(parse_qs(urlsplit(target).query)["limit"][0]) <= PAGE_SIZE
    assert all("gzip" in headers["accept-encoding"] for headers in core.headers)


def test_only_what_was_named_is_read_however_large_the_rest_of_the_cluster_is(session, tmp_path):
    reports = []
    for size in (2, 50, 5_000):
        core = Throttling(session, size)
        plan = planned(core, tmp_path, *namespaces(2))
        report = core.report()
        paths = sorted(urlsplit(target).path for target in report.lists)
        reports.append((paths, report.others, report.bytes, plan.content_digest))
    assert reports[0] == reports[1] == reports[2]
    named = re.compile(rf"/namespaces/({'|'.join(namespaces(2))})/")
    assert all(named.search(path) for path in reports[0][0])


def test_few_requests_are_under_way_at_once(session, tmp_path):
    core = Throttling(session, 30)
    planned(core, tmp_path, *namespaces(30))
    assert 0 < core.report().most_in_flight <= IN_FLIGHT == 16


def test_a_server_that_throttles_is_obeyed_and_gives_the_same_plan(session, tmp_path):
    waits = []
    calm = planned(Throttling(session, 3), tmp_path, *namespaces(3))
    busy = Throttling(session, 3, refusals=2)
    assert planned(busy, tmp_path, *namespaces(3), waits=waits).content_digest == calm.content_digest
    lists = [number for target, number in busy.attempts.items() if "limit=" in target]
    assert set(lists) == {3}
    assert len(waits) == 2 * len(lists)
    assert min(waits) >= RETRY_AFTER


def test_a_server_that_goes_on_throttling_is_left_alone_after_a_few_attempts(session, tmp_path):
    busy = Throttling(session, 3, refusals=1_000)
    with pytest.raises(TooManyRequests):
        planned(busy, tmp_path, *namespaces(3))
    assert max(busy.attempts.values()) == Pacing().attempts
