"""Whether an object that exists already is the target that a plan would create (pure).

Equal means: every field that the mapping fills, after defaulting by the CRDs read from the same cluster. Fields that a
template can't express are taken as found. Ownership and termination are looked at elsewhere.
"""

from collections.abc import Mapping

from aim_api.kinds import AIM_PROFILE_CACHE
from aim_api.tree import Json, JsonObject, get_map, get_str
from aim_template_migration.documents.plan import Imputation
from aim_template_migration.mapping.defaulting import is_empty, normalised, spec_schema, with_defaults
from aim_template_migration.planning.snapshot import Observed

INEXPRESSIBLE = frozenset(
    {
        "acceleratorPartitioningMode",
        "acceleratorVendor",
        "aimId",
        "autoSelectionPolicy",
        "engine",
        "features",
        "manualSelectionOnly",
        "primary",
        "variant",
    }
)
"""Fields of a profile that a template can't state, or that older templates can't."""


def differing_fields(body: JsonObject, existing: Observed, schemas: Mapping[str, JsonObject]) -> tuple[str, ...]:
    """Return the fields, as paths below ``spec``, in which an existing object differs from the target ``body``."""
    schema = spec_schema(schemas.get(existing.kind.name, {}))
    wanted, found = get_map(body, "spec"), get_map(existing.obj, "spec")
    filled, present = _object(with_defaults(wanted, schema)), _object(with_defaults(found, schema))
    names = {*wanted, *(name for name in present if _must_be_expressed(existing, name, present, schema))}
    return tuple(f"spec.{name}" for name in sorted(names) if _comparable(name, filled) != _comparable(name, present))


def taken_from_target(
    body: JsonObject, existing: Observed, schemas: Mapping[str, JsonObject]
) -> tuple[Imputation, ...]:
    """Return the fields of an existing profile that the mapping does not fill, as imputations."""
    schema = spec_schema(schemas.get(existing.kind.name, {}))
    wanted, present = get_map(body, "spec"), get_map(existing.obj, "spec")
    return tuple(
        Imputation(
            object=existing.id,
            field=f"spec.{name}",
            value=value,
            source=f"{existing.id} spec.{name}",
            rule="TakenFromTarget",
        )
        for name, value in sorted(present.items())
        if name in INEXPRESSIBLE and name not in wanted and not is_empty(value) and value != _default(schema, name)
    )


def same_target(one: JsonObject, other: JsonObject, schemas: Mapping[str, JsonObject]) -> bool:
    """Return whether two bodies of one target are equal; labels name the creator and are not compared."""
    schema = spec_schema(schemas.get(get_str(one, "kind") or "", {}))
    first, second = with_defaults(get_map(one, "spec"), schema), with_defaults(get_map(other, "spec"), schema)
    return normalised(first) == normalised(second)


def _must_be_expressed(existing: Observed, name: str, present: JsonObject, schema: JsonObject) -> bool:
    """Return whether a field that an existing object states would have to be in the mapping as well."""
    if existing.kind.name != AIM_PROFILE_CACHE.name and name in INEXPRESSIBLE:
        return False
    return present[name] not in (_default(schema, name), with_defaults({}, get_map(schema, "properties", name)))


def _comparable(name: str, spec: JsonObject) -> Json:
    """Return a field's value for comparison; whether a profile makes a cache of its own has a check of its own."""
    value = spec.get(name)
    if name == "caching" and isinstance(value, dict):
        value = {key: item for key, item in value.items() if key != "enabled"}
    compared = normalised(value)
    return None if is_empty(compared) else compared


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _default(schema: JsonObject, name: str) -> Json:
    return get_map(schema, "properties", name).get("default")
