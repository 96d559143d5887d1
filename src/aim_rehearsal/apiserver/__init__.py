"""A Kubernetes-compatible API in memory, for rehearsals and tests.

What it does is kube-apiserver's behaviour as clients see it; what it is not is a cluster: there is no scheduler, no
kubelet, no admission webhook and no storage.
"""

from aim_rehearsal.apiserver.faults import DropConnectionError, FaultHook
from aim_rehearsal.apiserver.messages import Request, Response
from aim_rehearsal.apiserver.server import LocalApiServer

__all__ = ["DropConnectionError", "FaultHook", "LocalApiServer", "Request", "Response"]
