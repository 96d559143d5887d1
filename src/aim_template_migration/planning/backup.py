"""The predecessor's desired state, for people (pure): R, "Plan and review".

Best-effort: no status, no UIDs, no resource versions, no owner identities, no Secrets. What looked like a secret was
replaced when the objects were read.
"""

import re
from collections.abc import Iterable, Iterator

from aim_api.bridge import PRESERVE_GENERATION, PRESERVE_UID
from aim_api.kinds import AIM_CLUSTER_MODEL, AIM_MODEL, AIM_SERVICE, DEPLOYMENT, LEGACY_VERSION, PVC
from aim_api.labels import LAST_APPLIED
from aim_api.tree import Json, JsonObject, get_map, has
from aim_template_migration.documents.backup_yaml import emit, join_documents
from aim_template_migration.planning.case import Case
from aim_template_migration.planning.checks.pipeline import already_migrated
from aim_template_migration.planning.snapshot import Observed

HEAD = """\
Best-effort desired state of the predecessors, for reading and manual reconstruction.
Do not run kubectl apply -f on this file or on its directory: applied objects get new UIDs, lose their owners, and
download their weights again. It holds no Secrets, no status, no UIDs and no artifact bytes; literals that looked like
secrets are replaced. Back referenced credentials up separately."""

_TOOL_ANNOTATIONS = frozenset({LAST_APPLIED, PRESERVE_UID, PRESERVE_GENERATION})
_CONTROLLER_PREFIXES = (
    "pv.kubernetes.io/",
    "volume.kubernetes.io/",
    "volume.beta.kubernetes.io/",
    "deployment.kubernetes.io/",
)
_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_UID_MARKER = "<uid left out>"
_LEGACY_API_VERSION = AIM_SERVICE.at(LEGACY_VERSION).api_version
# Fields that only v1alpha2 accepts; an object without them is written at v1alpha1, which accepts every legacy field.
_NEW_MODEL_FIELDS = ("accelerator", "derivedFrom", "modelId", "profiles")


BackupKey = tuple[str, str, str]
"""Kind, namespace and name."""


def backup_documents(cases: Iterable[Case]) -> dict[BackupKey, str]:
    """Return the YAML documents of services that are still on the template pipeline."""
    found: dict[BackupKey, str] = {}
    for case in cases:
        if already_migrated(case.service):
            continue
        for item in _predecessors(case):
            key = (item.kind.name, item.namespace, item.name)
            if key not in found:
                found[key] = emit(_stated(item), change=_without_uid)
    return found


def backup_head() -> bytes:
    """Return what a backup begins with."""
    return join_documents(HEAD, ()).encode()


def backup_text(document: str) -> bytes:
    """Return a document as it stands in a backup, where they follow each other by kind, namespace and name."""
    return f"---\n{document}".encode()


def _predecessors(case: Case) -> Iterator[Observed]:
    """Yield the closure without targets, and without Deployments, which KServe renders anew."""
    closure = case.closure
    targets = {item.uid for item in (closure.profile, closure.cluster_profile, closure.profile_cache) if item}
    yield from (item for item in closure.objects if item.uid not in targets and item.kind is not DEPLOYMENT)


def desired_state(item: Observed) -> JsonObject:
    """Return what an object's owner wanted of it, without what only the cluster knows."""
    without = _without_uids(_stated(item))
    assert isinstance(without, dict)
    return without


def _stated(item: Observed) -> JsonObject:
    """Return the desired state with what UIDs the owner wrote into it."""
    metadata: JsonObject = {"name": item.name}
    if item.namespace:
        metadata["namespace"] = item.namespace
    if item.labels:
        metadata["labels"] = dict(sorted(item.labels.items()))
    annotations: JsonObject = {key: value for key, value in sorted(item.annotations.items()) if _is_desired(key)}
    if annotations:
        metadata["annotations"] = annotations
    spec = dict(get_map(item.obj, "spec"))
    if item.kind is PVC:
        spec.pop("volumeName", None)  # binds to a volume that names the claim by UID
    return {"apiVersion": _api_version(item), "kind": item.kind.name, "metadata": metadata, "spec": spec}


def _is_desired(annotation: str) -> bool:
    return annotation not in _TOOL_ANNOTATIONS and not annotation.startswith(_CONTROLLER_PREFIXES)


def _api_version(item: Observed) -> str:
    """Return the version at which the object can be created again: template and overrides only at v1alpha1."""
    legacy = item.kind.name == AIM_SERVICE.name
    if item.kind.name in (AIM_MODEL.name, AIM_CLUSTER_MODEL.name):
        legacy = not any(has(item.obj, "spec", name) for name in _NEW_MODEL_FIELDS)
    return _LEGACY_API_VERSION if legacy else item.kind.api_version


def _without_uid(text: str) -> str:
    return _UID.sub(_UID_MARKER, text)


def _without_uids(value: Json) -> Json:
    if isinstance(value, str):
        return _without_uid(value)
    if isinstance(value, dict):
        return {key: _without_uids(item) for key, item in value.items()}
    return [_without_uids(item) for item in value] if isinstance(value, list) else value
