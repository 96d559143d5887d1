"""Parts of services, which Kustomize puts together: they are converted where that gives what the whole object gives."""

from collections.abc import Iterable

from aim_api.kinds import AIM_SERVICE, LEGACY_VERSION
from aim_api.tree import Json, JsonObject, get_str
from aim_template_migration.mapping.recipes.context import Context
from aim_template_migration.mapping.recipes.draft import Beside, Draft
from aim_template_migration.mapping.recipes.service import convert_service

_CONVERT_THE_BUILD = "or convert what kustomize build gives"


def convert_patch(draft: Draft, services: Iterable[Draft], context: Context) -> Draft:
    """Return the conversion of a part of an object.

    A part of a service is converted where that and the conversion of every service it patches, put together, are the
    conversion of the service as it is patched. All else stays as it is and is named, so that nothing that a patch
    removes or empties is lost, and no model that a patch alone knows.

    Args:
        draft: the part, of which nothing is converted.
        services: the services of the input, which are converted.
        context: what else is known; nothing that is found out about a part is noted there.
    """
    kind, version = get_str(draft.source, "kind") or "", (get_str(draft.source, "apiVersion") or "").partition("/")[2]
    if draft.gaps:
        return draft
    if kind != AIM_SERVICE.name:
        if version == LEGACY_VERSION:
            reason = f"this patches an object of the kind {kind}, and only the whole object says what becomes of it"
            _stay(draft, f"{reason}, so the patch stays as it is; write it anew for the converted object, ")
        return draft
    converted = draft.like(draft.source)
    convert_service(converted, context.apart())
    if converted.unchanged:
        return converted
    for made in converted.beside:
        _stay(draft, _new_object(made), object_=made.id)
    if not draft.gaps and not _fits(converted, [base for base in services if _patches(draft, base)], context):
        message = (
            "what becomes of this patch depends on the service that it patches, so it stays as it is; write it anew "
            "for the converted service, "
        )
        _stay(draft, message)
    return draft if draft.gaps else converted


def _stay(draft: Draft, message: str, *, object_: str = "") -> None:
    draft.unchanged = True
    draft.need(("kind",), message + _CONVERT_THE_BUILD, near=("kind",), object_=object_)


def _new_object(made: Beside) -> str:
    image = get_str(made.value, "spec", "image")
    spec = f" with spec.image: {image}" if image else ""
    return (
        "Kustomize takes no new object from a patch, so the patch stays as it is; "
        f"write {made.id}{spec} to a file of the resources and name it in the patch, at v1alpha2, "
    )


def _patches(patch: Draft, base: Draft) -> bool:
    namespaces = {patch.namespace, base.namespace} - {""}
    return patch.name == base.name and len(namespaces) < 2


def _fits(converted: Draft, bases: Iterable[Draft], context: Context) -> bool:
    """Return whether a converted part does to the converted services what the part does to the services."""
    bases = list(bases)
    if not bases:
        source, value = dict(converted.source), dict(converted.value)
        return {**source, "apiVersion": ""} == {**value, "apiVersion": ""}
    return all(_gives_the_same(converted, base, context) for base in bases)


def _gives_the_same(converted: Draft, base: Draft, context: Context) -> bool:
    whole = base.like(merged(base.source, converted.source))
    scratch = context.apart()
    convert_service(whole, scratch)
    written = [made.value for made in base.beside]
    beside = all(made.value in written for made in whole.beside)
    same = whole.value == merged(base.value, converted.value)
    return same and beside and scratch.written_models == context.written_models


def merged(value: JsonObject, patch: JsonObject) -> JsonObject:
    """Return an object with a JSON merge patch (RFC 7386), as Kustomize applies a patch to a custom resource."""
    result: dict[str, Json] = dict(value)
    for key, item in patch.items():
        if item is None:
            result.pop(key, None)
        elif isinstance(item, dict):
            below = result.get(key)
            result[key] = merged(below if isinstance(below, dict) else {}, item)
        else:
            result[key] = item
    return result
