"""The local API as the real control plane's counterpart: the same identities, kinds and clients."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from aim_api.crds import load_crds
from aim_rehearsal.apiserver import LocalApiServer
from tests.support.controlplane.client import Client
from tests.support.controlplane.server import ADMIN, POWERLESS


@dataclass(frozen=True, slots=True)
class LocalPlane:
    """A local API that runs, with one client for each identity."""

    server: LocalApiServer
    folder: Path
    clients: dict[str | None, Client]

    def client(self, identity: str | None = ADMIN) -> Client:
        """Return a client that authenticates as ``identity``; None is an anonymous one."""
        return self.clients[identity]

    def kubectl_environment(self, identity: str) -> dict[str, str]:
        """Return the variables that let kubectl act as ``identity`` with a discovery cache of this server's own."""
        path = self.folder / f"{identity}.kubeconfig"
        if not path.exists():
            self.server.write_kubeconfig(path, identity)
        return {"KUBECONFIG": str(path), "KUBECACHEDIR": str(self.folder / "kubectl-cache"), "HOME": str(self.folder)}


@contextmanager
def run_local_plane(folder: Path) -> Iterator[LocalPlane]:
    """Run a local API with the project's kinds, and keep its files in ``folder``."""
    with LocalApiServer(identities=dict.fromkeys(POWERLESS, ())) as server:
        server.install_crds(load_crds())
        ca_file = folder / "ca.crt"
        ca_file.write_text(server.ca_pem)
        clients: dict[str | None, Client] = {None: Client(server.url, ca_file, None)}
        for name in (ADMIN, *POWERLESS):
            clients[name] = Client(server.url, ca_file, server.token(name))
        yield LocalPlane(server, folder, clients)
        for client in clients.values():
            client.close()
