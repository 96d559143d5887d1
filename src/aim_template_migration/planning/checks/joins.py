"""Rows: everything resolves to exactly one object; nothing is going away, paused or managed from outside."""

from aim_api.labels import CUSTOM_MODEL
from aim_api.tree import get, get_list, has
from aim_template_migration.planning.case import Case, Findings, finding
from aim_template_migration.planning.management import outside_management
from aim_template_migration.planning.snapshot import Observed


def check_joins(case: Case) -> Findings:
    """No custom model; exactly one model, template, template cache and InferenceService."""
    closure, service = case.closure, case.service
    yield from _custom_model(case)
    joins = (
        ("ModelUnresolved", closure.model),
        ("TemplateUnresolved", closure.template),
        ("CacheUnresolved", closure.template_cache),
    )
    for code, join in joins:
        if join.fault:
            yield finding(code, service, join.fault, join.field)
    yield from _model_of_template(case)
    owned = [item.name for item in closure.inference_services if item.owned_by(service.uid)]
    others = [item.name for item in closure.inference_services if not item.owned_by(service.uid)]
    if len(owned) != 1:
        names = f": {', '.join(owned)}" if owned else ""
        yield finding(
            "AmbiguousInferenceService",
            service,
            f"the service owns {len(owned)} InferenceServices, not exactly one{names}",
        )
    for name in others:
        message = f"InferenceService {name} carries the service's label and is not controlled by it"
        yield finding("AmbiguousInferenceService", service, message)


def check_going_away(case: Case) -> Findings:
    """Nothing in the closure is terminating or paused."""
    if case.closure.scope.terminating:
        message = f"namespace {case.closure.scope.name} is terminating"
        yield finding("Terminating", case.service, message, "metadata.namespace")
    for item in case.closure.objects:
        if item.terminating:
            yield finding("Terminating", item, "it is being deleted", "metadata.deletionTimestamp")
    for item in case.closure.objects:
        if item.paused:
            yield finding("Paused", item, "its reconciliation is paused", "metadata.annotations")


def check_external_management(case: Case) -> Findings:
    """Nothing of the unit is managed from outside (R: externally managed units stay manual).

    What is cluster-scoped belongs to no unit: it is only read, and pinned like the rest. It earns a warning instead.
    """
    for item in case.closure.objects:
        if item.kind.namespaced:
            for where, message in outside_management(item, case.closure):
                yield finding("ExternallyManaged", item, message, where)


def check_secret_literals(case: Case) -> Findings:
    """No literal in the closure looks like a secret (R)."""
    for item in case.closure.objects:
        for hit in item.secrets:
            yield finding(
                "SecretLiteral", item, f"{hit.field} holds a literal that looks like a secret ({hit.what})", hit.field
            )


def _custom_model(case: Case) -> Findings:
    if has(case.service.obj, "spec", "model", "custom"):
        yield finding("CustomModel", case.service, "the service states a custom model of its own", "spec.model.custom")
    model = case.closure.model.found
    where = _custom_field(model) if model else ""
    if model and where:
        yield finding("CustomModel", model, "the model is a custom one, with weights of its own", where)


def _custom_field(model: Observed) -> str:
    if model.labels.get(CUSTOM_MODEL) == "true":
        return f"metadata.labels[{CUSTOM_MODEL}]"
    fields = (
        ("custom", get(model.obj, "spec", "custom")),
        ("modelSources", get_list(model.obj, "spec", "modelSources")),
    )
    return next((f"spec.{name}" for name, value in fields if value not in (None, [])), "")


def _model_of_template(case: Case) -> Findings:
    template, model = case.closure.template.found, case.closure.model.found
    stated = get(template.obj, "spec", "modelName") if template else None
    if template and model and stated != model.name:
        yield finding(
            "ModelUnresolved",
            template,
            f"the template belongs to model {stated}, the service resolves {model.name}",
            "spec.modelName",
        )
