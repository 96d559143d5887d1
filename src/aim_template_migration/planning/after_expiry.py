"""What normal profile rendering would change in the InferenceService once the pin expires (pure).

Profile pipeline facts, InferenceService and pipeline change: the same object is rewritten in place, and its pods roll.
"""

from collections.abc import Iterator

from aim_api.labels import MODEL, PROFILE, TEMPLATE
from aim_api.names import runtime_name
from aim_api.tree import JsonObject, get_map, get_objects, get_str
from aim_template_migration.documents.plan import AfterExpiry
from aim_template_migration.mapping.engine_settings import ENGINE_ARGS, FRAMEWORK_VARIABLES
from aim_template_migration.planning.case import Case
from aim_template_migration.planning.snapshot import Observed


def after_expiry(case: Case) -> AfterExpiry | None:
    """Return the changes, each a sentence; None where there is no InferenceService or no target."""
    isvc = case.closure.inference_service
    if isvc is None or case.profile_body is None:
        return None
    return AfterExpiry(changes=tuple(_changes(case, isvc)))


def _changes(case: Case, isvc: Observed) -> Iterator[str]:
    predictor = get_map(isvc.obj, "spec", "predictor")
    runtime = runtime_name(case.closure.profile_name)
    yield f"spec.predictor.containers gives way to spec.predictor.model with runtime {runtime}: every pod is replaced"
    if predictor.get("affinity"):
        yield "spec.predictor.affinity is dropped; the profile's runtime states the node affinity"
    volumes = [get_str(volume, "name") for volume in get_objects(predictor, "volumes")]
    if volumes:
        yield f"spec.predictor.volumes ({', '.join(name for name in volumes if name)}) move to the profile's runtime"
    dropped = [name for name in (TEMPLATE, MODEL) if name in isvc.labels]
    yield f"labels {', '.join(dropped)} are dropped, label {PROFILE} is added"
    lost = _lost_variables(case, predictor)
    if lost:
        yield f"environment variables no longer set: {', '.join(lost)}"
    yield from _account(case, predictor)


def _lost_variables(case: Case, predictor: JsonObject) -> list[str]:
    carried = {get_str(item, "name") or "" for item in get_objects(case.profile_body, "spec", "containerEnv")}
    names: set[str] = set()
    for container in get_objects(predictor, "containers"):
        names |= {get_str(item, "name") or "" for item in get_objects(container, "env")}
    return sorted(name for name in names - carried - FRAMEWORK_VARIABLES - {ENGINE_ARGS} if name)


def _account(case: Case, predictor: JsonObject) -> Iterator[str]:
    now = get_str(predictor, "serviceAccountName") or ""
    then = (
        get_str(case.service.obj, "spec", "serviceAccountName")
        or get_str(case.profile_body, "spec", "serviceAccountName")
        or ""
    )
    if now != then:
        yield f"spec.predictor.serviceAccountName changes from {now or 'unset'} to {then or 'unset'}"
