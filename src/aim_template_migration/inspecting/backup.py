"""How live objects compare with backup.yaml, which holds the predecessors' desired state (pure)."""

import json
import re
from collections.abc import Mapping

import yaml

from aim_api.kinds import AIM_CLUSTER_PROFILE, AIM_PROFILE, AIM_PROFILE_CACHE, DEPLOYMENT
from aim_api.labels import EVICTION_PROTECTED
from aim_api.tree import JsonObject, get_map
from aim_template_migration.applying.patching import unexpected_differences
from aim_template_migration.documents.backup_yaml import emit
from aim_template_migration.documents.inspection import BackupComparison
from aim_template_migration.planning.backup import BackupKey, desired_state
from aim_template_migration.planning.snapshot import Observed

_HEAD = re.compile(r"^(kind|  name|  namespace): (.+)$", re.MULTILINE)
_NEVER_BACKED_UP = frozenset({AIM_PROFILE.name, AIM_CLUSTER_PROFILE.name, AIM_PROFILE_CACHE.name, DEPLOYMENT.name})

Backup = Mapping[BackupKey, str]
"""The documents of a backup, by kind, namespace and name."""


def index_backup(text: str) -> dict[BackupKey, str]:
    """Return the documents of a backup as ``plan`` writes it; what else stands in the file is left out.

    Only each document's head is looked at, so that a backup of a whole fleet is indexed in no time.
    """
    found: dict[BackupKey, str] = {}
    for document in text.split("\n---\n")[1:]:
        whole = document if document.endswith("\n") else f"{document}\n"
        head: dict[str, str] = {}
        for match in _HEAD.finditer(whole):
            head.setdefault(match[1].strip(), _plain(match[2]))
            if len(head) == len(("kind", "name", "namespace")):
                break
        if "kind" in head and "name" in head:
            found[head["kind"], head.get("namespace", ""), head["name"]] = whole
    return found


def compare(backup: Backup, live: Observed | None, key: BackupKey) -> tuple[BackupComparison, tuple[str, ...]]:
    """Return how an object compares with its document in the backup, and the fields in which they differ.

    Args:
        backup: the backup.
        live: the object now, None where it does not exist.
        key: which object.
    """
    if key[0] in _NEVER_BACKED_UP:
        return "", ()
    document = backup.get(key)
    if document is None:
        return "notInBackup", ()
    if live is None:
        return "differs", ()
    state = _without_our_effect(desired_state(live), document)
    if emit(state) == document:
        return "equal", ()
    try:
        kept = yaml.load(document, Loader=yaml.CSafeLoader)
    except yaml.YAMLError:
        return "differs", ()
    return "differs", tuple(unexpected_differences(kept, state)) if isinstance(kept, dict) else ()


def _without_our_effect(state: JsonObject, document: str) -> JsonObject:
    """Leave out the eviction protection that apply sets, where the backup has none."""
    annotations = get_map(state, "metadata", "annotations")
    if EVICTION_PROTECTED not in annotations or EVICTION_PROTECTED in document:
        return state
    kept: JsonObject = {key: value for key, value in annotations.items() if key != EVICTION_PROTECTED}
    metadata = {key: value for key, value in get_map(state, "metadata").items() if key != "annotations"}
    return {**state, "metadata": {**metadata, "annotations": kept} if kept else metadata}


def _plain(scalar: str) -> str:
    """Return a scalar of a head, which ``emit`` writes bare or as a JSON string."""
    if not scalar.startswith('"'):
        return scalar
    try:
        text = json.loads(scalar)
    except ValueError:
        return scalar
    return text if isinstance(text, str) else scalar
