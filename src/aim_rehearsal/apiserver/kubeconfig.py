"""Kubeconfig files for the local API."""

import base64
import json
import os
from pathlib import Path


def write_kubeconfig(path: Path, *, url: str, ca_pem: str, identity: str, token: str, namespace: str | None) -> Path:
    """Write a kubeconfig that only its owner can read, and return its path.

    Args:
        path: the file; an existing one is replaced.
        url: the server.
        ca_pem: the certificate authority of the server.
        identity: the name of the user entry.
        token: the user's bearer token.
        namespace: the namespace of the context, or None.

    Raises:
        OSError: the file cannot be written.
    """
    context = {"cluster": "rehearsal", "user": identity}
    if namespace:
        context["namespace"] = namespace
    authority = base64.b64encode(ca_pem.encode()).decode()
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "rehearsal", "cluster": {"server": url, "certificate-authority-data": authority}}],
        "users": [{"name": identity, "user": {"token": token}}],
        "contexts": [{"name": "rehearsal", "context": context}],
        "current-context": "rehearsal",
    }
    text = json.dumps(config, indent=2) + "\n"  # JSON is YAML
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    return path
