"""The controllers by kind: which decision looks at which object."""

from collections.abc import Callable

from aim_api.kinds import (
    AIM_ARTIFACT,
    AIM_CLUSTER_MODEL,
    AIM_CLUSTER_PROFILE,
    AIM_CLUSTER_SERVICE_TEMPLATE,
    AIM_MODEL,
    AIM_PROFILE,
    AIM_PROFILE_CACHE,
    AIM_SERVICE,
    AIM_SERVICE_TEMPLATE,
    AIM_TEMPLATE_CACHE,
    DEPLOYMENT,
    INFERENCE_SERVICE,
    JOB,
    POD,
    PVC,
    REPLICA_SET,
)
from aim_api.tree import JsonObject
from aim_rehearsal.operator import artifact, kserve, profile, profile_cache, service, storage, template, template_cache
from aim_rehearsal.operator.view import View
from aim_rehearsal.operator.writes import Write

Decision = Callable[[JsonObject, View], list[Write]]

CONTROLLERS: dict[str, Decision] = {
    AIM_SERVICE.name: service.reconcile,
    AIM_PROFILE.name: profile.reconcile,
    AIM_CLUSTER_PROFILE.name: profile.reconcile,
    AIM_PROFILE_CACHE.name: profile_cache.reconcile,
    AIM_ARTIFACT.name: artifact.reconcile,
    AIM_TEMPLATE_CACHE.name: template_cache.reconcile,
    AIM_SERVICE_TEMPLATE.name: template.reconcile_template,
    AIM_CLUSTER_SERVICE_TEMPLATE.name: template.reconcile_template,
    AIM_MODEL.name: template.reconcile_model,
    AIM_CLUSTER_MODEL.name: template.reconcile_model,
    INFERENCE_SERVICE.name: kserve.reconcile_inference_service,
    DEPLOYMENT.name: kserve.reconcile_deployment,
    REPLICA_SET.name: kserve.reconcile_replica_set,
    POD.name: kserve.reconcile_pod,
    PVC.name: storage.reconcile_claim,
    JOB.name: storage.reconcile_job,
}
