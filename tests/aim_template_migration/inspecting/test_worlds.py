"""Sample fleets and misbehaving operators on the local API: what is looked at afterwards is what happened."""

from datetime import UTC, datetime

import pytest

from aim_rehearsal.operator import Misbehaviour
from aim_rehearsal.session import RehearsalSession
from aim_rehearsal.worlds import load_world
from aim_template_migration.inspecting.inspection import InspectOptions, inspect_plan
from aim_template_migration.inspecting.verification import VerifyOptions, verify_plan
from tests.aim_template_migration.inspecting.rehearsals import Rehearsed


def looked_at(tmp_path, world, misbehaviour=None, **options):
    """Migrate a world; return how the run ended, its inspection and its verification."""
    with RehearsalSession(load_world(world), misbehaviour=misbehaviour, work_dir=tmp_path) as session:
        rehearsed = Rehearsed(session, tmp_path / "plan")
        rehearsed.plan()
        ended = rehearsed.apply(**options)
        now = datetime.now(UTC)
        inspected = inspect_plan(InspectOptions(tmp_path / "plan"), rehearsed.connect, now=now)
        return ended, inspected, verify_plan(VerifyOptions(tmp_path / "plan"), rehearsed.connect, now=now)


@pytest.mark.parametrize("world", ["cluster-template", "shared-template", "discovered-template"])
def test_targets_that_exist_already_or_are_shared_hold_like_others(tmp_path, world):
    ended, inspected, verification = looked_at(tmp_path, world)
    assert (ended.exit_code, inspected.exit_code) == (0, 0)
    assert set(inspected.inspection.counts) == {"CutOverConfirmed"}
    assert verification.counts["holding"] == len(verification.units) >= 1
    assert not [unit for unit in verification.units if unit.warnings]


@pytest.mark.parametrize(
    ("misbehaviour", "code", "broken"),
    [
        (Misbehaviour.ROLLS_DESPITE_PIN, "RolloutDetected", "PodTemplateUnchanged"),
        (Misbehaviour.SERVICE_NOT_OBSERVED, "CutoverNotObserved", "CutoverObserved"),
    ],
)
def test_an_operator_that_breaks_the_proof(tmp_path, misbehaviour, code, broken):
    ended, inspected, verification = looked_at(
        tmp_path, "shared-happy-path", misbehaviour, cutover_deadline_seconds=0.5
    )
    assert ended.exit_code == 3
    assert inspected.exit_code == 3
    first, second = inspected.inspection.units
    assert (first.finding, first.status, first.code) == ("CutOverChanged", "failed", code)
    assert (second.finding, second.code) == ("AsPlanned", "HaltedAfterRollout")
    assert broken in [fact.code for fact in verification.units[0].facts if not fact.holds]
    assert verification.counts == {"holding": 0, "differing": 1, "notCutOver": 1, "unreadable": 0}
