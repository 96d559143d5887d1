"""The functions that expressions may call."""

from aim_schema.cel.functions import Functions, Overload
from aim_schema.cel.library import (
    conversions,
    lists,
    names,
    networks,
    operators,
    optionals,
    quantities,
    strings,
    versions,
)


def _merged(*libraries: Functions) -> dict[str, tuple[Overload, ...]]:
    merged: dict[str, tuple[Overload, ...]] = {}
    for library in libraries:
        for name, overloads in library.items():
            merged[name] = (*merged.get(name, ()), *overloads)
    return merged


FUNCTIONS: Functions = _merged(
    operators.FUNCTIONS,
    conversions.FUNCTIONS,
    strings.FUNCTIONS,
    lists.FUNCTIONS,
    optionals.FUNCTIONS,
    quantities.FUNCTIONS,
    networks.FUNCTIONS,
    versions.FUNCTIONS,
    names.FUNCTIONS,
)
"""Every function by name, operators under names such as ``_+_``."""

OPAQUE_TYPES = (
    quantities.Quantity.cel_type,
    networks.IP.cel_type,
    networks.CIDR.cel_type,
    networks.URL.cel_type,
    versions.Semver.cel_type,
    names.NamedFormat.cel_type,
)
"""Names of the types that only these libraries make."""
