"""Objects of a list of which only a few fields matter: who holds or downloads the weights of a namespace.

These lists are read several times for each unit and hold what all units of the namespace have, so that most of what
they say is not even built.
"""

from typing import TYPE_CHECKING, Any, TypedDict, cast

import msgspec

from aim_api.tree import Json

if TYPE_CHECKING:
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


_read = msgspec.json.Decoder(_Glimpse).decode


def read_glimpse(text: msgspec.Raw) -> Json:
    """Return an object's identity, owners, age and source; what has another shape is read whole.

    Raises:
        MsgspecError: it is not JSON.
        RecursionError: it is nested too deeply.
    """
    try:
        return cast("Json", _read(text))
    except msgspec.ValidationError:
        return cast("Json", msgspec.json.decode(text))
