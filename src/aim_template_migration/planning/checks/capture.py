"""Row: creating the target profile changes nothing for anybody else."""

from aim_api.kinds import AIM_PROFILE, AIM_SERVICE, INFERENCE_SERVICE
from aim_api.labels import PIPELINE_PROFILE
from aim_api.names import runtime_name, slug_runtime_name
from aim_api.tree import JsonObject, get_str
from aim_template_migration.documents.canonical import canonical_bytes
from aim_template_migration.mapping.defaulting import spec_schema, with_defaults
from aim_template_migration.planning.case import Case, Findings, finding
from aim_template_migration.planning.checks.pipeline import owning_pipeline
from aim_template_migration.planning.resolution import names_model, selector_of, would_choose
from aim_template_migration.planning.snapshot import Observed

_RUNTIME = ("spec", "predictor", "model", "runtime")


def check_capture(case: Case) -> Findings:
    """No other service would resolve to the new profile, no other InferenceService to its runtime names.

    Stickiness is ignored: a service that is bound to another profile today may be ranked again. Services of this plan
    with the same target are on the template pipeline, and move to it deliberately.
    """
    body = case.profile_body
    if body is None or case.closure.cluster_template or case.closure.profile is not None:
        return
    yield from _captured_services(case, body)
    yield from _captured_inference_services(case, body)


def _captured_services(case: Case, body: JsonObject) -> Findings:
    """Look at services by what they ask for, since thousands of them ask for a few things."""
    scope, name = case.closure.scope, get_str(body, "metadata", "name") or ""
    captured = [
        (other, f"{other.id} asks for profile {name} by name, and would get the new one", "metadata.name")
        for other in scope.grouped(AIM_SERVICE, "profile by name", _named_profile).get(name, ())
    ]
    selecting = scope.grouped(AIM_SERVICE, "profile by selector", _selector_text)
    new = _with_defaults(case, body) if selecting else body
    for others in selecting.values():
        selector = selector_of(others[0])
        if selector is not None and would_choose(selector, new, scope.all(AIM_PROFILE)):
            captured += [
                (other, f"the selector of {other.id} would resolve to the new profile", "spec") for other in others
            ]
    for other, message, field in sorted(captured, key=lambda found: found[0].name):
        if other is not case.service:
            yield finding("TargetWouldCapture", case.profile_reference, message, field)


def _with_defaults(case: Case, body: JsonObject) -> JsonObject:
    schema = spec_schema(case.snapshot.cluster.schemas.get(AIM_PROFILE.name, {}))
    return {**body, "spec": with_defaults(body.get("spec"), schema)}


def _named_profile(service: Observed) -> tuple[str, ...]:
    name = get_str(service.obj, "spec", "profile", "name")
    return (name,) if name and owning_pipeline(service) == PIPELINE_PROFILE else ()


def _selector_text(service: Observed) -> tuple[str, ...]:
    selector = selector_of(service) if owning_pipeline(service) == PIPELINE_PROFILE else None
    return () if selector is None or names_model(selector) else (canonical_bytes(selector).decode(),)


def _captured_inference_services(case: Case, body: JsonObject) -> Findings:
    names = {runtime_name(get_str(body, "metadata", "name") or "")}
    aim_id = get_str(body, "spec", "aimId")
    if aim_id:
        names.add(slug_runtime_name(aim_id))
    for runtime in sorted(names):
        for other in case.closure.scope.with_field(INFERENCE_SERVICE, _RUNTIME, runtime):
            if other not in case.closure.inference_services:
                message = f"{other.id} uses runtime {runtime}, which the new profile would publish in the namespace"
                yield finding("TargetWouldCapture", case.profile_reference, message, "metadata.name")
