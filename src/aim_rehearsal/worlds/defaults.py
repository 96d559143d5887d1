"""What the project's CRDs do to an object on reading and on writing: fill in defaults, drop what they do not know."""

import functools

from aim_api.crds import load_crds
from aim_api.tree import Json, JsonObject, get_map, get_objects, get_str
from aim_schema import StructuralSchema


def with_defaults(manifest: JsonObject) -> JsonObject:
    """Return an object as readers see it: with the defaults of the CRD that defines its kind, if one does."""
    schema = _schema_of(manifest)
    return manifest if schema is None else schema.default(manifest)


def unknown_fields(manifest: JsonObject) -> list[str]:
    """Return the fields that the next write of an object drops, since the CRD of its kind does not know them."""
    schema = _schema_of(manifest)
    return [] if schema is None else schema.prune(manifest)[1]


def _schema_of(manifest: JsonObject) -> StructuralSchema | None:
    return _schemas().get((get_str(manifest, "apiVersion") or "", get_str(manifest, "kind") or ""))


@functools.cache
def _schemas() -> dict[tuple[str, str], StructuralSchema]:
    """Return the schemas of all kinds by apiVersion and kind, without their rules, which nothing here needs."""
    found: dict[tuple[str, str], StructuralSchema] = {}
    for definition in load_crds():
        spec = get_map(definition, "spec")
        for version in get_objects(spec, "versions"):
            key = (f"{get_str(spec, 'group')}/{get_str(version, 'name')}", get_str(spec, "names", "kind") or "")
            schema = _without_rules(get_map(version, "schema", "openAPIV3Schema"))
            assert isinstance(schema, dict)  # an object without some of its fields
            found[key] = StructuralSchema.compile(schema)
    return found


def _without_rules(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _without_rules(item) for key, item in value.items() if key != "x-kubernetes-validations"}
    if isinstance(value, list):
        return [_without_rules(item) for item in value]
    return value
