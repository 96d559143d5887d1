"""The only place of the tool that talks HTTP: credentials, requests, paging, and what each failure means."""

from aim_template_migration.kube.answers import Answer
from aim_template_migration.kube.cluster import Cluster
from aim_template_migration.kube.connecting import ConnectionOptions, connect
from aim_template_migration.kube.pacing import Pacing
from aim_template_migration.kube.requests import Action, PreparedRequest

__all__ = ["Action", "Answer", "Cluster", "ConnectionOptions", "Pacing", "PreparedRequest", "connect"]
