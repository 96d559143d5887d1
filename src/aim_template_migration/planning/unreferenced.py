"""Hand-authored legacy objects that no selected service uses (pure)."""

from collections.abc import Iterator

from aim_api.kinds import AIM_MODEL, AIM_SERVICE_TEMPLATE, AIM_TEMPLATE_CACHE, Kind
from aim_api.tree import get, get_str
from aim_template_migration.documents.plan import Unit
from aim_template_migration.mapping.defaulting import is_empty
from aim_template_migration.planning.case import finding
from aim_template_migration.planning.checks.targets import hand_authored
from aim_template_migration.planning.closure import Closure
from aim_template_migration.planning.content import pin_of
from aim_template_migration.planning.secret_references import secret_references
from aim_template_migration.planning.snapshot import NamespaceScope, Observed

_LEGACY_ONLY = ("custom", "customTemplates", "derivedFrom", "modelSources", "profileCopy")
_BECOMES = {
    AIM_SERVICE_TEMPLATE.name: "an AIMProfile",
    AIM_TEMPLATE_CACHE.name: "spec.caching.enabled of the AIMProfile",
    AIM_MODEL.name: "an AIMModel with spec.profiles",
}


def unreferenced_units(scope: NamespaceScope, closures: list[Closure]) -> Iterator[Unit]:
    """Yield a manual unit for every ownerless, hand-authored legacy object that no closure contains."""
    used = {item.uid for closure in closures for item in closure.objects}
    # A service of the profile pipeline no longer reports its model, but may still name it.
    named = {get_str(closure.service.obj, "spec", "model", "name") for closure in closures}
    for kind in (AIM_MODEL, AIM_SERVICE_TEMPLATE, AIM_TEMPLATE_CACHE):
        for item in scope.all(kind):
            if item.uid in used or item.owner_references or not hand_authored(item) or not _is_legacy(kind, item):
                continue
            if kind is AIM_MODEL and item.name in named:
                continue
            yield _unit(item)


def _is_legacy(kind: Kind, item: Observed) -> bool:
    return kind is not AIM_MODEL or any(not is_empty(get(item.obj, "spec", name)) for name in _LEGACY_ONLY)


def _unit(item: Observed) -> Unit:
    message = f"no service of the selected namespaces uses it; its v1alpha2 equivalent is {_BECOMES[item.kind.name]}"
    return Unit(
        id=item.id,
        disposition="manual",
        outcome="Unreferenced",
        reasons=(finding("Unreferenced", item, message),),
        pins=(pin_of("unreferenced", item),),
        secret_refs=secret_references((item,), item.namespace),
    )
