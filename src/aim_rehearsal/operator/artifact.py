"""The controller of AIMArtifact: a volume claim, a download, Ready.

Facts: legacy pipeline (AIMArtifact, PVC, Jobs), v1alpha1 reference (artifact status). Nothing is downloaded in a
rehearsal; the claim and the Job are real objects all the same, since a new download is what a migration must prevent.
"""

from aim_api import labels, names
from aim_api.kinds import AIM_ARTIFACT, JOB, LEGACY_VERSION, PVC
from aim_api.tree import JsonObject, get_int, get_list, get_map, get_str, get_strings
from aim_rehearsal.operator import framework, quota, sizes
from aim_rehearsal.operator.conditions import Condition, find, roll_up
from aim_rehearsal.operator.runtime_config import storage_class
from aim_rehearsal.operator.store import name, namespace, owner_references, terminating, uid
from aim_rehearsal.operator.view import View, paused
from aim_rehearsal.operator.writes import Render, SetStatus, Write, owner_reference

CONTROLLER = "artifact"
MANAGER = framework.manager_of(CONTROLLER)
_OWNER_VERSION = f"aim.eai.amd.com/{LEGACY_VERSION}"
_DOWNLOADER = "docker.io/amdenterpriseai/aim-artifact-downloader:0.2.6"


def reconcile(artifact: JsonObject, view: View) -> list[Write]:
    """Return what an artifact needs; a claim that vanished is made again and filled again."""
    if terminating(artifact) or paused(artifact):
        return []
    claim_name = get_str(artifact, "status", "persistentVolumeClaim") or names.pvc_name(name(artifact), uid(artifact))
    claim_lost = view.vanished(PVC, namespace(artifact), claim_name)
    claim = view.store.find(PVC, namespace(artifact), claim_name)
    if view.settled(artifact, claim) and not claim_lost:
        return []
    if claim is None:
        evictions, waits = quota.check(artifact, view)
        if waits is not None:
            return [*evictions, _waits_for_room(artifact, waits, view)]
        return [_claim(artifact, claim_name, view), _status(artifact, claim_name, "PvcPending", view)]
    job = view.store.find(JOB, namespace(artifact), _job_name(artifact, "download"))
    if (get_int(job, "status", "succeeded") or 0) > 0 or _is_ready(artifact):
        return [_status(artifact, claim_name, "", view)]
    return [_download(artifact, claim_name), _status(artifact, claim_name, "JobRunning", view)]


def _is_ready(artifact: JsonObject) -> bool:
    return get_str(artifact, "status", "status") == "Ready"


def _claim(artifact: JsonObject, claim_name: str, view: View) -> Render:
    marks: JsonObject = {labels.CACHE_NAME: name(artifact)}
    if labels.TEMPLATE_CREATED in get_strings(artifact, "metadata", "labels"):
        marks[labels.CACHE_TYPE] = "template-cache"
    tail = (get_str(artifact, "spec", "sourceUri") or "").partition("://")[2]
    marks[labels.SOURCE_MODEL] = names.label_value(tail or name(artifact))
    spec: JsonObject = {
        "accessModes": ["ReadWriteMany"],
        "storageClassName": get_str(artifact, "spec", "storageClassName") or storage_class(artifact, view),
        "resources": {"requests": {"storage": sizes.allocated(artifact, view)}},
    }
    manifest = framework.child(PVC, artifact, claim_name, framework.child_labels(artifact, CONTROLLER, marks), spec)
    return Render(
        PVC, framework.owned_by(manifest, owner_reference(artifact, _OWNER_VERSION, AIM_ARTIFACT.name)), MANAGER
    )


def _job_name(artifact: JsonObject, what: str) -> str:
    return names.derive_name([name(artifact), what], [uid(artifact)])


def _download(artifact: JsonObject, claim_name: str) -> Render:
    marks: JsonObject = {
        labels.CACHE_NAME: name(artifact),
        labels.CACHE_TYPE: "artifact",
        f"{labels.PREFIX}component": "download",
    }
    container: JsonObject = {
        "name": "download",
        "image": get_str(artifact, "spec", "modelDownloadImage") or _DOWNLOADER,
        "args": [get_str(artifact, "spec", "sourceUri")],
        "env": get_list(artifact, "spec", "env"),
        "volumeMounts": [{"name": "cache", "mountPath": "/cache/models"}],
    }
    pod: JsonObject = {
        "restartPolicy": "Never",
        "containers": [container],
        "volumes": [{"name": "cache", "persistentVolumeClaim": {"claimName": claim_name}}],
    }
    spec: JsonObject = {
        "backoffLimit": 2,
        "ttlSecondsAfterFinished": 600,
        "template": {"metadata": {"labels": marks}, "spec": pod},
    }
    marks_all = framework.child_labels(artifact, CONTROLLER, marks)
    manifest = framework.child(JOB, artifact, _job_name(artifact, "download"), marks_all, spec)
    return Render(
        JOB, framework.owned_by(manifest, owner_reference(artifact, _OWNER_VERSION, AIM_ARTIFACT.name)), MANAGER
    )


def _waits_for_room(artifact: JsonObject, waits: Condition, view: View) -> SetStatus:
    exceeded = Condition("StorageQuotaExceeded", true=True, reason=waits.reason, message=waits.message)
    rolled = roll_up(get_list(artifact, "status", "conditions"), [waits, exceeded], view.now)
    status: JsonObject = get_map(artifact, "status") | {"status": rolled.word, "conditions": rolled.conditions}
    return SetStatus(AIM_ARTIFACT, artifact, status, MANAGER)


def _status(artifact: JsonObject, claim_name: str, waits_for: str, view: View) -> SetStatus:
    """Return the status write; ``waits_for`` is the reason why the artifact is not Ready, empty when it is."""
    done = not waits_for
    total = sizes.size_bytes(artifact)
    claimed = waits_for != "PvcPending"
    found = [
        Condition("CachePvcReady", claimed, "Ready" if claimed else waits_for, ""),
        Condition("DownloadComplete", done, "Verified" if done else "Downloading", ""),
    ]
    if claimed:
        found.append(Condition("DownloadJobReady", true=done, reason="Ready" if done else waits_for, message=""))
    if find(artifact, "StorageQuotaExceeded"):
        found += [
            Condition("StorageQuotaReady", true=True, reason="WithinQuota", message=""),
            Condition("StorageQuotaExceeded", true=False, reason="WithinQuota", message=""),
        ]
    rolled = roll_up(get_list(artifact, "status", "conditions"), found, view.now)
    status: JsonObject = {
        "status": rolled.word,
        "mode": "Dedicated" if owner_references(artifact) else "Shared",
        "persistentVolumeClaim": claim_name,
        "displaySize": f"{total // sizes.GIBIBYTE} GiB",
        "allocatedSize": sizes.allocated(artifact, view),
        "headroomPercent": sizes.headroom_percent(artifact, view),
        "progress": {
            "totalBytes": total,
            "downloadedBytes": total if done else 0,
            "percentage": 100 if done else 0,
            "displayPercentage": "100 %" if done else "0 %",
        },
        "conditions": rolled.conditions,
    }
    return SetStatus(AIM_ARTIFACT, artifact, status, MANAGER)
