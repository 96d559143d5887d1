"""Warnings of a unit (pure): they never keep it from being automatic."""

from aim_api.kinds import AIM_SERVICE
from aim_api.labels import LAST_APPLIED
from aim_api.tree import get_str
from aim_template_migration.documents.codes import CODES
from aim_template_migration.documents.plan import Finding, SecretReference
from aim_template_migration.planning.case import Case, Findings, finding
from aim_template_migration.planning.checks.pipeline import accepts_observed_generation
from aim_template_migration.planning.enumeration import few_of
from aim_template_migration.planning.management import older_managers, outside_management

_USED_CACHE = ("status", "cache", "templateCacheRef", "uid")


def warnings_of(case: Case, secrets: tuple[SecretReference, ...], *, automatic: bool) -> tuple[Finding, ...]:
    """Return the warnings of a case, in the order of the codes' table."""
    return (
        *_last_applied(case),
        *(_pin_expires(case) if automatic else ()),
        *_shared_cache(case),
        *_older_managers(case),
        *_managed_catalogue(case),
        *_secrets(case, secrets),
        *_observed_generation(case),
    )


def _last_applied(case: Case) -> Findings:
    if LAST_APPLIED in case.service.annotations:
        message = (
            "the old manifest was applied with kubectl; applying or replacing it again would break or undo the cutover"
        )
        yield finding("LastAppliedPresent", case.service, message, f"metadata.annotations[{LAST_APPLIED}]")


def _pin_expires(case: Case) -> Findings:
    message = "after the cutover, the next change of spec resumes normal rendering, which replaces the pods"
    yield finding("PinExpires", case.service, message, "spec")


def _shared_cache(case: Case) -> Findings:
    cache = case.closure.template_cache.found
    if cache is None:
        return
    users = case.closure.scope.with_field(AIM_SERVICE, _USED_CACHE, cache.uid)
    count = len(users) - (get_str(case.service.obj, *_USED_CACHE) == cache.uid)
    if count:
        others = few_of((item.name for item in users if item.uid != case.service.uid), count)
        yield finding("CacheShared", cache, f"it is used by {count} other services: {others}", "metadata.name")


def _older_managers(case: Case) -> Findings:
    for item in case.closure.inference_services:
        for manager in older_managers(item):
            yield finding(
                "OlderFieldManagers",
                item,
                f"field manager {manager} is that of an older operator",
                "metadata.managedFields",
            )


def _managed_catalogue(case: Case) -> Findings:
    for item in case.closure.objects:
        if not item.kind.namespaced:
            for where, message in outside_management(item, case.closure):
                yield finding("ClusterObjectManagedElsewhere", item, message, where)


def _secrets(case: Case, secrets: tuple[SecretReference, ...]) -> Findings:
    if secrets:
        names = ", ".join(sorted({f"{item.namespace}/{item.name}" for item in secrets}))
        yield finding("SecretsReferenced", case.service, f"the closure references Secrets: {names}")


def _observed_generation(case: Case) -> Findings:
    if accepts_observed_generation(case):
        message = "status.observedGeneration equals the generation and was accepted as proof of the bridge"
        yield finding("ObservedGenerationAccepted", case.service, message, "status.observedGeneration")


def namespace_warning(namespace: str) -> Finding:
    """Return the warning about a namespace without services."""
    return Finding(
        code="NamespaceWithoutServices",
        object=f"Namespace/{namespace}",
        message="the namespace has no AIMService",
        advice=CODES["NamespaceWithoutServices"].advice,
    )
