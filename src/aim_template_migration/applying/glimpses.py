"""Objects of a list of which only a few fields matter: who holds or downloads the weights of a namespace.

These lists are read several times for each unit and hold what all units of the namespace have, so that most of what
they say is not even built.
"""

from typing import TYPE_CHECKING, Any, TypedDict

from aim_template_migration.planning.reduction import reader_of

if TYPE_CHECKING:
    from aim_api.tree import Json

    Value = Json
else:
    Value = Any  # msgspec resolves annotations at run time and knows no recursive types


class _Metadata(TypedDict, total=False):
    name: Value
    namespace: Value
    uid: Value
    creationTimestamp: Value
    ownerReferences: Value


class _Spec(TypedDict, total=False):
    sourceUri: Value


class _Glimpse(TypedDict, total=False):
    apiVersion: Value
    kind: Value
    metadata: _Metadata
    spec: _Spec


read_glimpse = reader_of(_Glimpse)
"""Reads an object's identity, owners, age and source."""
