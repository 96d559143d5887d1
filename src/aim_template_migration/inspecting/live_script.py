"""The live validation that the runbook defers to the administrator, as a shell script made from a plan (pure).

R, "Deferred live validation": GPU readiness, predictor rollout and a real inference request. The script reads with
``kubectl get`` alone; the inference request stays commented out until a person has edited it. Names stand in it quoted,
and a plan is checked for its structure before its names get here.
"""

import shlex
from collections.abc import Iterable, Iterator

from aim_template_migration.applying.plan_files import PlanFiles
from aim_template_migration.documents.plan import Unit
from aim_template_migration.inspecting.live import Migration
from aim_template_migration.inspecting.live_script_parts import FUNCTIONS, HEAD, INFERENCE, REQUEST, TAIL

_COMMENT_WIDTH = 110


def live_script(files: PlanFiles, units: Iterable[Unit], *, version: str) -> str:
    """Return the script for some units of a plan.

    Args:
        files: the plan.
        units: the units to look at; manual ones are written down as unsupported cases.
        version: version of this tool.
    """
    chosen = tuple(units)
    plan = files.plan
    head = HEAD.format(
        plan_id=_comment(plan.plan_id),
        sha256=files.sha256,
        version=version,
        planned_at=shlex.quote(plan.generated_at),
        directory=shlex.quote(f"./live-validation-{plan.plan_id}"),
    )
    automatic = [Migration(unit) for unit in chosen if unit.disposition == "automatic"]
    checks = (line for migration in automatic for line in _checks(migration))
    cases = _cases(unit for unit in chosen if unit.disposition == "manual")
    requests = (_request(migration) for migration in automatic)
    return "\n".join([head, FUNCTIONS, *checks, *cases, INFERENCE, *requests, TAIL])


def _checks(migration: Migration) -> Iterator[str]:
    confirmation, namespace = migration.confirmation, migration.namespace
    isvc = confirmation.inference_service
    yield ""
    yield f"say {shlex.quote(f'== {migration.unit.id}')}"
    yield _call(
        "service",
        namespace,
        confirmation.service.name,
        migration.cut_over.uid,
        f"{migration.cut_over.pinned_generation}",
        confirmation.profile_name,
    )
    uid, generation = confirmation.inference_service_uid, confirmation.inference_service_generation
    yield _call("inference_service", namespace, isvc.name, uid, f"{generation}")
    for pin in migration.unit.pins:
        if pin.role == "deployment":
            yield _call("predictor", namespace, pin.reference.name, pin.uid, isvc.name)
    yield _call("gpus", namespace, isvc.name)
    for item in migration.cache.artifacts:
        yield _call("weights", namespace, item.name, item.uid, item.pvc_name, item.pvc_uid)


def _cases(manual: Iterable[Unit]) -> Iterator[str]:
    yield ""
    for unit in manual:
        codes = ", ".join(dict.fromkeys(reason.code for reason in unit.reasons)) or unit.outcome
        yield _call("unsupported", f"{unit.id} is manual ({unit.outcome}): {codes}")


def _request(migration: Migration) -> str:
    isvc = migration.confirmation.inference_service.name
    path = f"/api/v1/namespaces/{migration.namespace}/services/http:{isvc}-predictor:80/proxy/v1/chat/completions"
    return REQUEST.format(path=shlex.quote(path))


def _call(*words: str) -> str:
    """Return a call on one line; a line break in a name can't begin a command of its own, since it is quoted."""
    return " ".join([words[0], *(shlex.quote(word) for word in words[1:])])


def _comment(text: str) -> str:
    """Return text that stays on its line of comment."""
    return "".join(character if character.isprintable() else "?" for character in text)[:_COMMENT_WIDTH]
