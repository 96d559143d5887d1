"""Plans that several processes make: the same bytes as one makes, and the same errors."""

import contextlib
import itertools
import json
import os
import socket
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from aim_api.kinds import AIM_SERVICE
from aim_rehearsal.apiserver.messages import Response
from aim_rehearsal.session import RehearsalSession
from aim_rehearsal.worlds import fleet, load_world
from aim_rehearsal.worlds.storing import stored_objects
from aim_template_migration.documents.plan import GENERATED_NAME, PLAN_NAME
from aim_template_migration.kube import ConnectionOptions, connect
from aim_template_migration.kube.errors import IncompleteList
from aim_template_migration.kube.requests import Action
from aim_template_migration.planning import classifying, processors
from aim_template_migration.planning.destination import Memory
from aim_template_migration.planning.inventory import (
    NAMESPACED_KINDS,
    NamespacePages,
    PlanningError,
    read_cluster_scope,
    read_namespace,
)
from aim_template_migration.planning.make import BACKUP_FILE, write_plan
from aim_template_migration.planning.namespace_text import namespace_text
from aim_template_migration.planning.settings import Settings
from aim_template_migration.planning.worker import Beginning, Failed, PageAhead, Unusable, answers
from aim_template_migration.planning.workers import WorkerFailedError, Workers
from benchmarks.page_server import PageCore, one_namespace, serving, space_name
from tests.support.fleet import FleetCluster, happy_fleet

NOW = datetime(2026, 6, 2, tzinfo=UTC)
PATIENCE_SECONDS = 20


def planned(kubeconfig, namespaces, workers):
    """Return the files of a plan by name."""
    cluster = connect(ConnectionOptions(kubeconfig=str(kubeconfig)), environ={})
    memory = Memory()
    settings = Settings(namespaces=namespaces, runtime_projection_mode="Both")
    try:
        write_plan(cluster, settings, memory, now=NOW, plan_id="same", workers=workers)
    finally:
        cluster.close()
    return memory.files


@pytest.fixture(scope="module")
def session():
    with one_namespace(3) as session:
        yield session


def names(number):
    return tuple(space_name(index) for index in range(number))


def test_the_files_are_the_same_whatever_the_number_of_processes(tmp_path, monkeypatch):
    fleets, dedicated, cluster = fleet(2, 4), load_world("dedicated-caching"), load_world("cluster-template")
    more = [*stored_objects(dedicated.objects), *stored_objects(cluster.objects)]
    world = replace(fleets, objects=(*fleets.objects, *more))
    with RehearsalSession(world, work_dir=tmp_path) as session:
        kubeconfig, namespaces = session.kubeconfig(), (*fleets.namespaces, "team-a", "team-b", "default")
        alone = planned(kubeconfig, namespaces, 1)
        assert alone == planned(kubeconfig, namespaces, 2) == planned(kubeconfig, namespaces, 4)
        monkeypatch.setattr(classifying, "WORTH_WORKERS", 1)
        monkeypatch.setattr(classifying, "fitting_workers", lambda: 2)
        assert alone == planned(kubeconfig, namespaces, None)
    plan = json.loads(alone[PLAN_NAME])
    assert {unit["outcome"] for unit in plan["units"]} >= {"SharedNoRollout", "DedicatedHandoffRequiresQuiescence"}
    assert {unit["id"].split("/")[1] for unit in plan["units"]} == {*namespaces} - {"default"}
    assert len(alone) > len({PLAN_NAME, GENERATED_NAME, BACKUP_FILE})
    assert b"kind: AIMClusterServiceTemplate" in alone[BACKUP_FILE]


@pytest.mark.parametrize(("worth", "expected"), [(1, 1), (10**9, 0)])
def test_workers_are_started_for_a_fleet_that_is_worth_it(session, tmp_path, monkeypatch, worth, expected):
    started = []

    class Noted(Workers):
        def __init__(self, *arguments):
            started.append(arguments[0])
            super().__init__(*arguments)

    monkeypatch.setattr("aim_template_migration.planning.workers.Workers", Noted)
    monkeypatch.setattr(classifying, "WORTH_WORKERS", worth)
    monkeypatch.setattr(classifying, "fitting_workers", lambda: 2)
    with serving(PageCore(session, 8), tmp_path) as kubeconfig:
        planned(kubeconfig, names(8), None)
    assert len(started) == expected


class Damaged(PageCore):
    """Puts something else in the place of a namespace's first service."""

    def _page(self, kind, space, query):
        page = super()._page(kind, space, query)
        if kind.name == AIM_SERVICE.name and space == space_name(3):
            return Response(200, body=page.body.replace(b'"kind":"AIMService"', b'"kind":"Pod"', 1))
        return page


@pytest.mark.parametrize("workers", [1, 2])
def test_what_a_list_holds_that_does_not_belong_there_is_named(session, tmp_path, workers):
    with serving(Damaged(session, 5), tmp_path) as kubeconfig, pytest.raises(IncompleteList) as caught:
        planned(kubeconfig, names(5), workers)
    assert str(caught.value) == (
        "list AIMService in namespace fleet-000003: the list cannot be relied on: an item is of another kind or version"
    )


@pytest.mark.parametrize("workers", [1, 2])
def test_a_namespace_that_does_not_exist_is_named(session, tmp_path, workers):
    missing = pytest.raises(PlanningError, match="namespace fleet-000003 does not exist")
    with serving(PageCore(session, 3), tmp_path) as kubeconfig, missing:
        planned(kubeconfig, names(4), workers)


class Restarting(PageCore):
    """Loses the snapshot of each namespace's list of services once, at its second page."""

    lost = frozenset()

    def _page(self, kind, space, query):
        query = {**query, "limit": "2"}
        if kind.name == AIM_SERVICE.name and "continue" in query and space not in self.lost:
            self.lost |= {space}
            gone = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Expired", "code": 410}
            return Response(410, body=json.dumps(gone).encode())
        return super()._page(kind, space, query)


def test_pages_of_a_list_that_began_anew_count_once(session, tmp_path):
    folders = [tmp_path / name for name in ("whole", "restarted")]
    for folder in folders:
        folder.mkdir()
    with serving(PageCore(session, 3), folders[0]) as kubeconfig:
        whole = planned(kubeconfig, names(3), 1)
    core = Restarting(session, 3)
    with serving(core, folders[1]) as kubeconfig:
        assert planned(kubeconfig, names(3), 2) == whole
    assert core.lost == set(names(3))


def conversation(*messages):
    """Return the answers of a worker that gets these messages, bytes where bytes are asked for."""
    given = iter(messages)

    def receive():
        for message in given:
            return message
        raise EOFError

    found = []
    with contextlib.suppress(EOFError):
        found.extend(answers(receive, receive))
    return found


def beginning():
    fleet = happy_fleet()
    return fleet, Beginning(read_cluster_scope(FleetCluster(fleet)), fleet.settings())


def test_a_worker_gives_what_this_process_would():
    fleet, first = beginning()
    (namespace,) = fleet.namespaces()
    cluster = FleetCluster(fleet)
    messages, numbers = [], []
    for kind in NAMESPACED_KINDS:
        texts = cluster.list_reduced(kind, namespace, lambda obj: json.dumps(obj).encode())
        numbers.append(len(numbers))
        ends = tuple(itertools.accumulate(map(len, texts)))
        messages += [PageAhead(numbers[-1], kind, Action("list", kind.name, namespace), ends), b"".join(texts)]
    ((name, text),) = conversation(first, *messages, NamespacePages(namespace, tuple(numbers), terminating=False))
    assert name == namespace
    assert text == namespace_text(first.cluster, read_namespace(cluster, namespace), first.settings)


def test_a_page_that_is_no_json_is_told_with_its_namespace():
    _, first = beginning()
    action = Action("list", "AIMService", "team-a")
    page = PageAhead(0, AIM_SERVICE, action, (4,))
    (answer,) = conversation(first, page, b"{no}", NamespacePages("team-a", (0,), terminating=False))
    assert answer == ("team-a", Unusable(action, "the list cannot be relied on: an item is not valid JSON"))


def test_a_rule_that_fails_is_told_with_its_traceback(monkeypatch):
    _, first = beginning()
    monkeypatch.setattr("aim_template_migration.planning.worker.namespace_text", lambda *_: 1 // 0)
    page = PageAhead(0, AIM_SERVICE, Action("list", "AIMService", "team-a"), ())
    ((name, answer),) = conversation(first, page, b"", NamespacePages("team-a", (0,), terminating=False))
    assert name == "team-a"
    assert isinstance(answer, Failed)
    assert "ZeroDivisionError" in answer.traceback


def test_a_worker_that_cannot_begin_is_a_fault_of_the_tool(session, tmp_path, monkeypatch):
    monkeypatch.setattr("aim_template_migration.planning.workers._START", "raise SystemExit(3)")
    with serving(PageCore(session, 3), tmp_path) as kubeconfig, pytest.raises(WorkerFailedError, match="exit code 3"):
        planned(kubeconfig, names(3), 2)


_BROKEN_WORKERS = """
import gc, sys
from aim_template_migration.cli.main import main
from aim_template_migration.planning import workers
workers._START = "raise SystemExit(3)"
code = main(sys.argv[1:])
gc.collect()
sys.exit(code)
"""


def test_what_is_left_of_workers_that_failed_is_collected_without_a_word(session, tmp_path):
    with serving(PageCore(session, 3), tmp_path) as kubeconfig:
        files = ("--kubeconfig", str(kubeconfig), "--output-dir", str(tmp_path / "plan"))
        mode = ("--runtime-projection-mode", "Both")
        spaces = [part for name in names(3) for part in ("--namespace", name)]
        # Only the development mode of Python 3.11 tells what fails while objects are collected; 3.13 always does.
        run = subprocess.run(
            [sys.executable, "-X", "dev", "-c", _BROKEN_WORKERS, "plan", *files, *mode, "--workers", "2", *spaces],
            capture_output=True,
            text=True,
            check=False,
        )
    assert "unexpected WorkerFailedError" in run.stderr
    assert "BufferError" not in run.stderr


def test_no_process_to_be_had_is_told_with_the_way_out(session, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "absent"))
    told = pytest.raises(PlanningError, match="No such file or directory; use --workers 1")
    with serving(PageCore(session, 3), tmp_path) as kubeconfig, told:
        planned(kubeconfig, names(3), 2)


def test_workers_load_nothing_from_the_current_directory_and_get_no_credentials(session, tmp_path, monkeypatch):
    trap = tmp_path / "trap"
    trap.mkdir()
    for module in ("json", "msgspec", "signal"):
        (trap / f"{module}.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(trap)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not for workers")
    seen = tmp_path / "environment"
    monkeypatch.setattr(
        "aim_template_migration.planning.workers._START",
        "import json, os, sys; sys.path[:] = json.loads(sys.argv[2]); "
        f"open({str(seen)!r}, 'w').write(json.dumps(dict(os.environ))); "
        "from aim_template_migration.planning.worker import main; main(int(sys.argv[1]))",
    )
    with serving(PageCore(session, 3), tmp_path) as kubeconfig:
        assert planned(kubeconfig, names(3), 2)[PLAN_NAME]
    assert "AWS_SECRET_ACCESS_KEY" not in json.loads(seen.read_text())


@pytest.mark.parametrize(
    ("processors_here", "files", "expected"),
    [
        (1, {}, 1),
        (2, {}, 2),
        (64, {}, 2),
        (8, {"cpu.max": "100000 100000"}, 1),
        (8, {"cpu.max": "50000 100000"}, 1),
        (8, {"cpu.max": "200000 100000", "memory.max": "max"}, 2),
        (8, {"memory.max": str(128 << 20)}, 1),
        (8, {"memory.max": str(400 << 20)}, 2),
        (8, {"memory.max": str(1 << 30), "cpu.max": "max 100000"}, 2),
        (8, {"memory.max": "", "cpu.max": "nonsense 0"}, 2),
    ],
)
def test_no_more_workers_than_processors_and_memory_allow(tmp_path, monkeypatch, processors_here, files, expected):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(processors, "_CGROUP", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(processors_here)), raising=False)
    assert processors.fitting_workers() == expected


def test_a_worker_ends_in_the_middle_of_its_work_once_nobody_is_left_to_take_an_answer():
    here, there = socket.socketpair()
    code = (
        "import sys; from aim_template_migration.planning.worker import _end_with_the_other_side; "
        "_end_with_the_other_side(int(sys.argv[1]))"
    )
    with here, there:
        worker = subprocess.Popen([sys.executable, "-c", code, str(there.fileno())], pass_fds=[there.fileno()])
        there.close()
        here.sendall(b"something to read")
        with pytest.raises(subprocess.TimeoutExpired):
            worker.wait(0.5)
    assert worker.wait(PATIENCE_SECONDS) == 0


@pytest.mark.parametrize(
    "said", ["b'no message at all'", "pickle.dumps(('fleet-000000', Failed('', short_of_memory=True)))"]
)
def test_an_answer_that_is_none_or_tells_of_too_little_memory_ends_the_plan(session, tmp_path, monkeypatch, said):
    monkeypatch.setattr(
        "aim_template_migration.planning.workers._START",
        "import json, pickle, sys, time; sys.path[:] = json.loads(sys.argv[2]); "
        "from multiprocessing.connection import Connection; from aim_template_migration.planning.worker import Failed; "
        f"connection = Connection(int(sys.argv[1])); connection.recv(); connection.send_bytes({said}); time.sleep(60)",
    )
    told = pytest.raises(PlanningError, match="nothing was written; give the command more memory, or use --workers 1")
    with serving(PageCore(session, 3), tmp_path) as kubeconfig, told:
        planned(kubeconfig, names(3), 2)
