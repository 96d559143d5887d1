"""CustomResourceDefinitions of every AIM kind that a migration can touch, and of the parts of KServe that it reads.

They are data for the local API, for the offline validation of manifests and for tests; nothing installs them in a
cluster. Each file is named after the plural of its kind.
"""

from importlib import resources

import yaml

from aim_api.kinds import AIM_KINDS, KSERVE_KINDS, Kind
from aim_api.tree import JsonObject

_KINDS = (*AIM_KINDS, *KSERVE_KINDS)


def crd_names() -> tuple[str, ...]:
    """Return the names of the definitions, ``<plural>.<group>``, in the order of :func:`load_crds`."""
    return tuple(kind.crd_name for kind in _KINDS)


def load_crds() -> list[JsonObject]:
    """Return the definitions as ``apiextensions.k8s.io/v1`` objects, new ones on each call.

    Within one definition, parts that are equal may be one and the same Python object (both versions of a kind share
    their properties): copy a definition before changing it.
    """
    return [load_crd(kind) for kind in _KINDS]


def load_crd(kind: Kind) -> JsonObject:
    """Return the definition of one kind, as :func:`load_crds` does; a single one takes a fraction of the time."""
    text = (resources.files(__name__) / f"{kind.plural}.yaml").read_text(encoding="utf-8")
    definition: JsonObject = yaml.load(text, Loader=yaml.CSafeLoader)
    return definition
