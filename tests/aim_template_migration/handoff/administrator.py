"""The administrator's side of a Dedicated handoff on the local API: each method does what one phase asks for."""

from datetime import UTC, datetime
from pathlib import Path

from aim_api.bridge import RECONCILIATION_PAUSED, Pin
from aim_api.kinds import (
    AIM_ARTIFACT,
    AIM_MODEL,
    AIM_PROFILE,
    AIM_PROFILE_CACHE,
    AIM_SERVICE,
    AIM_SERVICE_TEMPLATE,
    AIM_TEMPLATE_CACHE,
    INFERENCE_SERVICE,
)
from aim_api.names import dedicated_profile_cache_name
from aim_rehearsal.session import RehearsalSession
from aim_template_migration.documents.private_files import publish_directory
from aim_template_migration.handoff.check import append_record, check_handoff, read_evidence, read_record
from aim_template_migration.handoff.reading import look
from aim_template_migration.kube import ConnectionOptions, connect
from aim_template_migration.planning.make import make_plan
from aim_template_migration.planning.settings import Settings

NAMESPACE, SERVICE = "team-a", "qwen-chat"
CACHE = "qwen3-32b-mi300x-fp8-tp1-latency-qwen-chat-1f6c2b0d"
ARTIFACT = "hf---qwen-qwen3-32b-fp8-9d1c40e7a2"
TEMPLATE = "qwen3-32b-mi300x-fp8-tp1-latency"


class Handoff:
    """The administrator's side: each method does what one phase asks for."""

    def __init__(self, session: RehearsalSession, folder: Path) -> None:
        self.session, self.folder = session, folder
        self.admin = session.client
        self.cluster = connect(ConnectionOptions(kubeconfig=str(session.kubeconfig("migration"))))
        settings = Settings(namespaces=(NAMESPACE,), runtime_projection_mode="Both")
        made = make_plan(self.cluster, settings, now=datetime.now(UTC), plan_id="handoff")
        publish_directory(folder / "plan", made.files)
        self.evidence_file = folder / "plan" / made.evidence_files[0]
        self.record = folder / "record.jsonl"

    def check(self, phase=None, *, record=False):
        evidence = read_evidence(self.evidence_file)
        known = read_record(self.record if record else None, evidence)
        checked = check_handoff(self.cluster, evidence, known, phase, at="2026-11-27T18:00:00Z")
        return append_record(self.record, known, checked) if record else checked

    def look(self):
        """Return what a check sees now."""
        return look(self.cluster, read_evidence(self.evidence_file).content)

    def get(self, kind, name):
        return self.admin.get(kind, NAMESPACE, name)

    def patch(self, kind, name, patch):
        self.admin.merge_patch(kind, NAMESPACE, name, patch, manager="kubectl-patch")
        self.session.operator.settle()

    def pause_source(self):
        self.patch(AIM_TEMPLATE_CACHE, CACHE, {"metadata": {"annotations": {RECONCILIATION_PAUSED: "true"}}})

    def prepare_target(self):
        template = self.get(AIM_SERVICE_TEMPLATE, TEMPLATE)
        service = self.get(AIM_SERVICE, SERVICE)
        model = self.get(AIM_MODEL, template["spec"]["modelName"])
        spec = template["spec"]
        self.admin.create(
            AIM_PROFILE,
            {
                "apiVersion": AIM_PROFILE.api_version,
                "kind": "AIMProfile",
                "metadata": {"name": TEMPLATE, "namespace": NAMESPACE},
                "spec": {
                    "aimId": spec["aimId"],
                    "modelId": spec["modelId"],
                    "image": model["spec"]["image"],
                    "metric": spec["metric"],
                    "precision": spec["precision"],
                    "acceleratorModel": "MI300X",
                    "acceleratorType": "gpu",
                    "acceleratorCount": 1,
                    "modelSources": spec["modelSources"],
                },
            },
            manager="kubectl-create",
        )
        self.target = dedicated_profile_cache_name(TEMPLATE, SERVICE, service["metadata"]["uid"], "Namespace")
        self.admin.create(
            AIM_PROFILE_CACHE,
            {
                "apiVersion": AIM_PROFILE_CACHE.api_version,
                "kind": "AIMProfileCache",
                "metadata": {
                    "name": self.target,
                    "namespace": NAMESPACE,
                    "annotations": {RECONCILIATION_PAUSED: "true"},
                    "ownerReferences": [
                        {
                            "apiVersion": "aim.eai.amd.com/v1alpha1",
                            "kind": "AIMService",
                            "name": SERVICE,
                            "uid": service["metadata"]["uid"],
                            "controller": True,
                        }
                    ],
                },
                "spec": {"profileName": TEMPLATE, "profileScope": "Namespace", "mode": "Dedicated"},
            },
            manager="kubectl-create",
        )
        self.session.operator.settle()

    def target_owner(self, **flags):
        cache = self.get(AIM_PROFILE_CACHE, self.target)
        entry = {"apiVersion": AIM_PROFILE_CACHE.api_version, "kind": "AIMProfileCache", "name": self.target}
        return {**entry, "uid": cache["metadata"]["uid"], **flags}

    def stage_ownership(self):
        owners = self.get(AIM_ARTIFACT, ARTIFACT)["metadata"]["ownerReferences"]
        self.patch(
            AIM_ARTIFACT, ARTIFACT, {"metadata": {"ownerReferences": [*owners, self.target_owner(controller=False)]}}
        )

    def activate_target(self):
        self.patch(AIM_PROFILE_CACHE, self.target, {"metadata": {"annotations": {RECONCILIATION_PAUSED: None}}})

    def transfer_control(self):
        self.patch(AIM_ARTIFACT, ARTIFACT, {"metadata": {"ownerReferences": [self.target_owner(controller=True)]}})

    def cut_over(self):
        service = self.get(AIM_SERVICE, SERVICE)
        (isvc,) = self.admin.list_all(INFERENCE_SERVICE, NAMESPACE).items
        pin = Pin(isvc["metadata"]["uid"], service["metadata"]["generation"] + 1)
        patch = {
            "metadata": {"annotations": pin.annotations()},
            "spec": {"template": None, "profile": {"name": TEMPLATE}},
        }
        self.patch(AIM_SERVICE, SERVICE, patch)

    def work(self, number):
        """Do what a phase asks for, where a tool can do it."""
        steps = {
            3: self.pause_source,
            4: self.prepare_target,
            5: self.stage_ownership,
            6: self.activate_target,
            7: self.transfer_control,
            9: self.cut_over,
        }
        if number in steps:
            steps[number]()

    def walk(self, to, visit=lambda number: None):
        """Do everything up to a phase, check each phase on the way, and let a visitor look at it."""
        for number in range(1, to + 1):
            self.work(number)
            checked = self.check(number, record=True)
            assert checked.verdict == "go if", (number, [f"{d.object}: {d.message}" for d in checked.differences])
            visit(number)
