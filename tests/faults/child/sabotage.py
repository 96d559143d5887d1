"""Ways to break the tool on purpose, so that it is known that the checker finds them."""

import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from aim_api.kinds import AIM_ARTIFACT
from aim_template_migration.applying import cutover, engine, journal, lock, protecting, run, unit_run, writer
from aim_template_migration.documents import private_files
from aim_template_migration.kube import Cluster


def _no_attempt() -> None:
    real = journal.Journal.append

    def append(self, event, **kwargs):
        if event != "attempt":
            real(self, event, **kwargs)

    journal.Journal.append = append


def _attempt_not_synced() -> None:
    journal.SYNCED_EVENTS = journal.SYNCED_EVENTS - {"attempt"}


def _no_result_before_request() -> None:
    run.RunningResult.attempt = lambda self, attempt: None
    run.RunningResult.close_attempt = lambda self, attempt: None


def _no_guards() -> None:
    cutover.guarded_operations = lambda live, operations: list(operations)


def _no_guards_of_artifacts() -> None:
    real = protecting.protection_patch
    protecting.protection_patch = lambda artifact: [item for item in real(artifact) if item["op"] != "test"]


def _repeats_lost_writes() -> None:
    """Send a write once more where its answer was lost."""
    settle = writer.Writer._settle

    def again(self, write, attempt, error):
        try:
            answer = self._cluster.send(write.prepared)
        except Exception:  # noqa: BLE001 - the tool's own way then
            return settle(self, write, attempt, error)
        self._append("accepted", write, {"httpStatus": answer.status})
        self._running.close_attempt(attempt)
        return writer.Sent(answer.body)

    writer.Writer._settle = again


def _believes_lost_answers() -> None:
    """Take a write whose answer was lost for stored."""

    def believe(self, write, attempt, error):
        self._append("settled", write, {"outcome": "stored"})
        self._running.close_attempt(attempt)
        return writer.Sent({}, settled=True)

    writer.Writer._settle = believe


def _no_confirmation() -> None:
    unit_run.confirm = lambda state, step, before: None
    unit_run.confirm_after_soak = lambda state, step, before: None


def _never_syncs() -> None:
    journal.Journal._sync = lambda self, seq: None


def _ignores_the_lock() -> None:
    lock.ApplyLock.__enter__ = lambda self: self
    lock.ApplyLock._release = lambda self: None
    lock.ApplyLock.is_ours = lambda self: True


def _readable_files() -> None:
    private_files.FILE_MODE = 0o644


def _prints_a_traceback() -> None:
    def surprised(self, units):
        raise RuntimeError("surprise")

    engine.Engine.run = surprised


def _writes_in_a_dry_run() -> None:
    real = Cluster.prepare_json_patch

    def prepare(self, kind, name, namespace, operations, *, dry_run):
        return real(self, kind, name, namespace, operations, dry_run=dry_run and kind is not AIM_ARTIFACT)

    Cluster.prepare_json_patch = prepare


def _forgets_a_unit() -> None:
    real = run.RunningResult.complete

    def complete(self, finished_at, stopped):
        self._finished.popitem()
        return real(self, finished_at, stopped)

    run.RunningResult.complete = complete


def _leaks_the_token() -> None:
    kubeconfig = Path(sys.argv[sys.argv.index("--kubeconfig") + 1])
    found = re.search(r"token\"?: *\"?([\w.~+/=-]+)", kubeconfig.read_text())
    assert found is not None
    sys.stdout.write(f"using {found[1]}\n")


SABOTAGES: Mapping[str, Callable[[], None]] = {
    function.__name__.removeprefix("_").replace("_", "-"): function
    for function in (
        _no_attempt,
        _attempt_not_synced,
        _no_result_before_request,
        _no_guards,
        _no_guards_of_artifacts,
        _repeats_lost_writes,
        _believes_lost_answers,
        _no_confirmation,
        _never_syncs,
        _ignores_the_lock,
        _readable_files,
        _prints_a_traceback,
        _writes_in_a_dry_run,
        _forgets_a_unit,
        _leaks_the_token,
    )
}
