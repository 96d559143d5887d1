"""A world on a real kube-apiserver, with the operator at work, and applies of its plan."""

import contextlib
import secrets
import threading
from datetime import UTC, datetime

from aim_api.kinds import INFERENCE_SERVICE, POD
from aim_rehearsal.client import Client
from aim_rehearsal.operator import Settings as OperatorSettings
from aim_template_migration.applying.events import nobody
from aim_template_migration.applying.run import ApplyOptions, apply_plan
from aim_template_migration.documents.private_files import publish_directory
from aim_template_migration.kube import ConnectionOptions, connect
from aim_template_migration.planning.make import Settings, make_plan
from tests.aim_rehearsal.stage import Stage
from tests.support.worlds import renamed


@contextlib.contextmanager
def staged(world, plane):
    """Yield the stage of a world in namespaces of its own."""
    admin = Client(plane.url, token=plane.token("admin"), ca_pem=plane.ca_file.read_text())
    with Stage(admin, admin, renamed(world, secrets.token_hex(3)), OperatorSettings()).up() as made:
        yield made


class Applied:
    """A plan of the stage's namespaces, and applies of it."""

    def __init__(self, stage, aim_plane, directory):
        self.stage, self.plane, self.directory = stage, aim_plane, directory
        cluster = self.connect()
        settings = Settings(namespaces=stage.world.namespaces, runtime_projection_mode="Both")
        made = make_plan(cluster, settings, now=datetime.now(UTC), plan_id="real")
        publish_directory(directory / "plan", made.files)
        self.units = [unit.id for unit in made.plan.units]

    def connect(self):
        return connect(ConnectionOptions(kubeconfig=str(self.plane.kubeconfig("admin"))))

    def apply(self, name, listener=nobody, **options):
        options = ApplyOptions(
            plan=self.directory / "plan", result=self.directory / name, soak_seconds=0.1, parallel=2, **options
        )
        return apply_plan(options, self.connect, listener=listener, stop=threading.Event())


def live(stage):
    return [
        (item["metadata"]["uid"], item["metadata"].get("generation"), item["spec"])
        for namespace in stage.world.namespaces
        for kind in (INFERENCE_SERVICE, POD)
        for item in stage.client.list_all(kind, namespace).items
    ]
