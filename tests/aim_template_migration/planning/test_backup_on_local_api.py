"""A backup is accepted by an API server that holds nothing but the definitions."""

import yaml

from aim_api.crds import load_crds
from aim_api.kinds import AIM_KINDS, INFERENCE_SERVICE, PVC
from aim_rehearsal.apiserver import LocalApiServer
from aim_rehearsal.roles import IDENTITIES, role_objects
from aim_template_migration.kube import ConnectionOptions, connect
from tests.support.fleet import add_service, happy_fleet

KINDS = {kind.name: kind for kind in (*AIM_KINDS, INFERENCE_SERVICE, PVC)}


def test_every_document_passes_a_dry_run_on_an_empty_cluster(tmp_path):
    fleet = happy_fleet()
    fleet.only("AIMModel")["spec"] = {"image": "registry.example.org/aim/qwen3-32b:0.10.0", "modelSources": []}
    fleet.only("AIMService")["spec"]["overrides"] = {"metric": "latency"}
    add_service(fleet, "tuned", model="tuned", template="tuned", uri="hf://org/tuned")
    fleet.named("AIMModel", "tuned")["spec"] = {"image": "base:1", "custom": {"type": "preview"}, "aimId": "org/tuned"}
    documents = list(yaml.safe_load_all(fleet.files().files["backup.yaml"]))
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}}
    with LocalApiServer(identities=IDENTITIES) as server:
        server.install_crds(load_crds())
        server.seed([*role_objects(), namespace])
        kubeconfig = server.write_kubeconfig(tmp_path / "kubeconfig", "admin")
        cluster = connect(ConnectionOptions(kubeconfig=str(kubeconfig)))
        for document in documents:
            kind = KINDS[document["kind"]].at(document["apiVersion"].rpartition("/")[2])
            answer = cluster.send(cluster.prepare_create(kind, document, "team-a", dry_run=True))
            assert answer.status == 201, document
    assert len(documents) == 14
