"""A rehearsal session with its plan, for what needs a real API: kubectl, and processes that are killed."""

import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from aim_rehearsal.session import RehearsalSession
from aim_template_migration.applying.events import nobody
from aim_template_migration.applying.run import ApplyOptions, ApplyOutcome, apply_plan
from aim_template_migration.documents.private_files import publish_directory
from aim_template_migration.kube import Cluster, ConnectionOptions, connect
from aim_template_migration.planning.make import Settings, make_plan


@dataclass
class Rehearsed:
    """A session and the plan directory made on it."""

    session: RehearsalSession
    directory: Path

    def connect(self) -> Cluster:
        return connect(ConnectionOptions(kubeconfig=str(self.session.kubeconfig())), environ={})

    def plan(self) -> None:
        cluster = self.connect()
        settings = Settings(namespaces=self.session.namespaces, runtime_projection_mode="Both")
        made = make_plan(cluster, settings, now=datetime.now(UTC), plan_id="rehearsed")
        cluster.close()
        publish_directory(self.directory, made.files)

    def apply(self, **options) -> ApplyOutcome:
        chosen = ApplyOptions(plan=self.directory, commit=True, soak_seconds=0.0, **options)
        return apply_plan(chosen, self.connect, listener=nobody, stop=threading.Event())
