"""What every recipe does first: the version, and metadata that belongs to one stored object only."""

from aim_api.labels import LAST_APPLIED
from aim_api.tree import get_map
from aim_template_migration.mapping.fates import Fate
from aim_template_migration.mapping.recipes.draft import Draft, id_of

V1ALPHA2 = "aim.eai.amd.com/v1alpha2"

_STORED = (
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "managedFields",
    "selfLink",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)


def to_v1alpha2(draft: Draft) -> None:
    """State the version of the profile pipeline."""
    if draft.given("apiVersion") == V1ALPHA2:
        draft.account(("apiVersion",), draft.id, ("apiVersion",), fate=Fate.MAPPED)
        return
    draft.retype(("apiVersion",), ("apiVersion",), V1ALPHA2)


def to_kind(draft: Draft, kind: str) -> None:
    """State another kind, and leave out what belongs to the stored object of the old kind alone."""
    note_leaving(draft)
    to_v1alpha2(draft)
    draft.retype(("kind",), ("kind",), kind, reason="the profile pipeline has another kind for it")
    draft.account(("metadata",), draft.id, ("metadata",), fate=Fate.MAPPED)
    for name in _STORED:
        draft.drop(("metadata", name), "the API server sets it on the new object")
    if LAST_APPLIED in get_map(draft.source, "metadata", "annotations"):
        draft.drop(("metadata", "annotations", LAST_APPLIED), "kubectl writes it anew")
    draft.lose(
        ("metadata", "ownerReferences"),
        "the owner of the old object does not own the new one",
        "let the owner's own controller make the new object, or add an owner reference on purpose",
    )
    draft.drop(("status",), "the controller reports it anew")


def note_leaving(draft: Draft) -> None:
    """Say that the object is no longer in the manifests, since a conversion does not authorize its deletion (G)."""
    draft.note(
        ("kind",),
        f"{id_of(draft.source)} is no longer in the manifests, and nothing says that it may be deleted: keep GitOps "
        "from pruning it while a service uses it",
    )
