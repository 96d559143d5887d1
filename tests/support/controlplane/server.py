"""A real control plane: etcd, kube-apiserver and, on request, the controllers that clean up after owners."""

import base64
import csv
import json
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import trustme

from aim_api.tree import JsonObject, get, get_str
from tests.controlplane.build import API_SERVER, CONTROLLER_MANAGER, ETCD
from tests.support.audit import AuditTrail
from tests.support.controlplane.client import Client
from tests.support.controlplane.ports import LOOPBACK, ReservedPort
from tests.support.controlplane.processes import Program

ADMIN = "admin"
"""The identity that may do everything: it is in the group system:masters."""

CONTROLLERS = "controllers"
"""The identity of kube-controller-manager, so that its deletions are told from everybody else's."""

POWERLESS = ("tool", "operator", "reader", "nobody")
"""The other identities. They may do what every authenticated user may, until a test grants them more."""

MASTERS = "system:masters"
START_TIMEOUT = 60.0
WAIT_TIMEOUT = 45.0
_POLL = 0.03
# One file for a whole run: a rotated log would look like requests that were never made.
_AUDIT_MEGABYTES = 16 * 1024

# Where kube-apiservers tell each other how far they have compacted.
_COMPACTED_KEY = "compact_rev_key"

_AUDIT_POLICY: JsonObject = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    # A watch that is still open, or an answer that never came, has a line of an earlier stage only.
    "omitStages": ["RequestReceived"],
    "rules": [
        # The server's requests to itself.
        {"level": "None", "users": ["system:apiserver"]},
        {"level": "RequestResponse"},
    ],
}


class ControlPlaneError(Exception):
    """The control plane did not start or has stopped; the message has the end of the program's log."""


class ControlPlane:
    """One etcd and one kube-apiserver on loopback, with TLS, token authentication, RBAC and an audit log.

    Use :func:`run_control_plane`, which also stops it.
    """

    def __init__(
        self,
        programs: Path,
        folder: Path,
        *,
        identities: Sequence[str] = POWERLESS,
        admission_plugins: Sequence[str] = (),
    ) -> None:
        """Prepare a control plane that keeps everything below ``folder``, which must be empty."""
        self.folder = folder
        self.audit_log = folder / "audit.log"
        self.ca_file = folder / "ca.crt"
        self.start_seconds: float | None = None
        self._program_folder = programs
        self._admission_plugins = tuple(admission_plugins)
        self._tokens = {name: secrets.token_urlsafe(24) for name in (ADMIN, CONTROLLERS, *identities)}
        self._running: list[Program] = []
        self._controllers: Program | None = None
        self._clients: dict[str | None, Client] = {}
        self._storage: Client | None = None
        self._etcd_port, self._peer_port, self._api_port = ReservedPort(), ReservedPort(), ReservedPort()
        self.url = f"https://{LOOPBACK}:{self._api_port.number}"

    # Start and stop

    def start(self) -> None:
        """Start etcd and kube-apiserver and wait until the API answers and its first namespaces exist.

        Raises:
            ControlPlaneError: a program ended or was not ready in time.
        """
        began = time.monotonic()
        self._write_files()
        self._run(ETCD, self._etcd_arguments())
        self.wait_until(lambda: self._etcd_port.answers, "etcd accepts connections", timeout=START_TIMEOUT)
        self._run(API_SERVER, self._api_arguments())
        self.wait_until(lambda: self._api_port.answers, "kube-apiserver accepts connections", timeout=START_TIMEOUT)
        self.wait_until(self._is_ready, "kube-apiserver is ready", timeout=START_TIMEOUT)
        self.start_seconds = time.monotonic() - began

    def _is_ready(self) -> bool:
        admin = self.client()
        paths = ("/readyz", "/api/v1/namespaces/default", "/api/v1/namespaces/kube-system")
        return all(admin.get(path).status == 200 for path in paths)

    def stop(self) -> None:
        """Stop everything; what never started is no error."""
        for client in self._clients.values():
            client.close()
        self._clients.clear()
        if self._storage is not None:
            self._storage.close()
            self._storage = None
        while self._running:
            # Last started, first stopped: kube-apiserver waits for an etcd that has gone.
            self._running.pop().stop()
        for port in (self._etcd_port, self._peer_port, self._api_port):
            port.release()

    def start_controllers(self) -> None:
        """Run the garbage collector and the namespace controller.

        The garbage collector looks for new kinds every 30 s only: define kinds first, or call
        :meth:`restart_controllers` afterwards. It is a program of its own and works some time after this returns.
        """
        if self._controllers is None:
            self._controllers = self._run(CONTROLLER_MANAGER, self._controller_arguments())

    def restart_controllers(self) -> None:
        """Let the controllers, if they run, learn of new kinds at once."""
        if self._controllers is not None:
            self._controllers.stop()
            self._running.remove(self._controllers)
            self._controllers = None
            self.start_controllers()

    def wait_until(self, condition: Callable[[], bool], what: str, timeout: float = WAIT_TIMEOUT) -> None:
        """Wait until ``condition`` holds; ``what`` says in a failure's message what was waited for.

        Raises:
            ControlPlaneError: it did not hold within ``timeout`` seconds, or a program ended.
        """
        deadline = time.monotonic() + timeout
        while not condition():
            ended = [program for program in self._running if not program.is_running]
            if ended or time.monotonic() > deadline:
                problem = "a program ended" if ended else f"not within {timeout:g} s"
                programs = ended or self._running
                logs = "".join(f"\n--- {program}\n{program.log_tail()}" for program in programs)
                raise ControlPlaneError(f"waited until {what}: {problem}{logs}")
            time.sleep(_POLL)

    @property
    def programs(self) -> tuple[Program, ...]:
        """What runs at present, in the order of its start."""
        return tuple(self._running)

    # Identities

    @property
    def identities(self) -> list[str]:
        """The names of all users that have a token."""
        return list(self._tokens)

    def token(self, identity: str) -> str:
        """Return the bearer token of an identity."""
        return self._tokens[identity]

    def client(self, identity: str | None = ADMIN) -> Client:
        """Return a client that authenticates as ``identity``; None is an anonymous one."""
        if identity not in self._clients:
            token = None if identity is None else self.token(identity)
            self._clients[identity] = Client(self.url, self.ca_file, token)
        return self._clients[identity]

    def kubeconfig(self, identity: str) -> Path:
        """Return the path of a kubeconfig file, readable by its owner only, that authenticates as ``identity``."""
        path = self.folder / f"{identity}.kubeconfig"
        if not path.exists():
            config: JsonObject = {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "controlplane",
                "clusters": [
                    {
                        "name": "controlplane",
                        "cluster": {"server": self.url, "certificate-authority": str(self.ca_file)},
                    }
                ],
                "users": [{"name": identity, "user": {"token": self.token(identity)}}],
                "contexts": [{"name": "controlplane", "context": {"cluster": "controlplane", "user": identity}}],
            }
            _write_private(path, json.dumps(config))
        return path

    def kubectl_environment(self, identity: str) -> dict[str, str]:
        """Return the variables that let kubectl act as ``identity`` with a discovery cache of this server's own."""
        return {
            "KUBECONFIG": str(self.kubeconfig(identity)),
            "KUBECACHEDIR": str(self.folder / "kubectl-cache"),
            "HOME": str(self.folder),
        }

    # The audit log

    def audit_position(self) -> int:
        """Return the place in the audit log behind every request that has been answered by now."""
        marker = f"/version?marker={secrets.token_hex(8)}"
        size = self.audit_log.stat().st_size
        self.client().get(marker).expect(200)
        position = 0

        def is_logged() -> bool:
            nonlocal position
            with self.audit_log.open("rb") as log:
                log.seek(size)
                fresh = log.read()
            found = fresh.find(marker.encode())
            end = fresh.find(b"\n", found)
            position = size + end + 1
            return found >= 0 and end >= 0

        self.wait_until(is_logged, "the audit log has the latest request")
        return position

    def audit_trail(self, start: int = 0) -> AuditTrail:
        """Return every request that has been answered by now, or those behind an earlier :meth:`audit_position`."""
        self.audit_position()
        return AuditTrail.read(self.audit_log, start)

    # etcd

    def compact_history(self) -> int:
        """Let etcd forget all but the present, and return the revision from which it knows.

        Older resource versions are then gone, for lists once kube-apiserver has dropped its own snapshots (15 s).
        """
        answer = self.etcd("range", {"key": _base64(_COMPACTED_KEY)})
        revision = get_str(answer, "header", "revision") or ""
        self.etcd("put", {"key": _base64(_COMPACTED_KEY), "value": _base64(revision)})
        self.etcd("compaction", {"revision": revision, "physical": True})
        return int(revision)

    def etcd(self, request: str, body: JsonObject) -> JsonObject:
        """Send a request to etcd's JSON interface, as ``range`` or ``txn``; keys and values are in base64."""
        path = "/v3/kv/" + request
        return self._etcd_client().post(path, body).expect(200).object

    def _etcd_client(self) -> Client:
        if self._storage is None:
            self._storage = Client(f"http://{LOOPBACK}:{self._etcd_port.number}", self.ca_file, None)
        return self._storage

    # Files and arguments

    def _write_files(self) -> None:
        authority = trustme.CA()
        certificate = authority.issue_cert(LOOPBACK, "localhost")
        authority.cert_pem.write_to_path(str(self.ca_file))
        chain = b"".join(blob.bytes() for blob in certificate.cert_chain_pems)
        (self.folder / "server.crt").write_bytes(chain)
        _write_private(self.folder / "server.key", certificate.private_key_pem.bytes().decode())
        _write_private(self.folder / "audit-policy.json", json.dumps(_AUDIT_POLICY))
        with _private(self.folder / "tokens.csv").open("w", newline="") as file:
            rows = csv.writer(file)
            for name, token in self._tokens.items():
                groups = [MASTERS] if name in (ADMIN, CONTROLLERS) else []
                rows.writerow([token, name, f"uid-{name}", *groups])

    def _run(self, name: str, arguments: Sequence[str]) -> Program:
        program = Program([self._program_folder / name, *arguments], self.folder / f"{name}.log")
        self._running.append(program)
        return program

    def _etcd_arguments(self) -> list[str]:
        client_url = f"http://{LOOPBACK}:{self._etcd_port.number}"
        peer_url = f"http://{LOOPBACK}:{self._peer_port.number}"
        return [
            "--name=tests",
            f"--data-dir={self.folder / 'etcd'}",
            f"--listen-client-urls={client_url}",
            f"--advertise-client-urls={client_url}",
            f"--listen-peer-urls={peer_url}",
            f"--initial-advertise-peer-urls={peer_url}",
            f"--initial-cluster=tests={peer_url}",
            "--socket-reuse-port=true",
            "--unsafe-no-fsync=true",
            "--log-level=warn",
        ]

    def _api_arguments(self) -> list[str]:
        key = self.folder / "server.key"
        arguments = [
            f"--etcd-servers=http://{LOOPBACK}:{self._etcd_port.number}",
            f"--bind-address={LOOPBACK}",
            f"--advertise-address={LOOPBACK}",
            "--endpoint-reconciler-type=none",
            f"--secure-port={self._api_port.number}",
            "--permit-port-sharing=true",
            f"--tls-cert-file={self.folder / 'server.crt'}",
            f"--tls-private-key-file={key}",
            f"--cert-dir={self.folder}",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            "--service-cluster-ip-range=10.96.0.0/24",
            f"--token-auth-file={self.folder / 'tokens.csv'}",
            "--authorization-mode=RBAC",
            # There is no controller that makes default service accounts, and pods must be creatable without.
            "--disable-admission-plugins=ServiceAccount",
            f"--audit-policy-file={self.folder / 'audit-policy.json'}",
            f"--audit-log-path={self.audit_log}",
            f"--audit-log-maxsize={_AUDIT_MEGABYTES}",
        ]
        if self._admission_plugins:
            arguments.append(f"--enable-admission-plugins={','.join(self._admission_plugins)}")
        return arguments

    def _controller_arguments(self) -> list[str]:
        config = self.kubeconfig(CONTROLLERS)
        return [
            f"--kubeconfig={config}",
            f"--authentication-kubeconfig={config}",
            f"--authorization-kubeconfig={config}",
            "--controllers=garbage-collector-controller,namespace-controller",
            "--leader-elect=false",
            "--secure-port=0",
        ]

    # Conveniences for tests

    def create_namespace(self, prefix: str = "test") -> str:
        """Create a namespace with a name that no other test has, and return the name."""
        name = f"{prefix}-{secrets.token_hex(5)}"
        self.client().post("/api/v1/namespaces", {"metadata": {"name": name}}).expect(201)
        return name

    def delete_namespace(self, name: str) -> None:
        """Ask for the deletion of a namespace; without the controllers it stays, terminating and harmless."""
        self.client().delete(f"/api/v1/namespaces/{name}").expect(200, 404, 409)

    def grant(self, identity: str, rules: Sequence[JsonObject], namespace: str | None = None) -> None:
        """Give an identity the RBAC rules, in one namespace or everywhere, and wait until they hold."""
        scope = "" if namespace is None else f"namespaces/{namespace}/"
        prefix = "Cluster" if namespace is None else ""
        name = f"{identity}-{secrets.token_hex(5)}"
        base = f"/apis/rbac.authorization.k8s.io/v1/{scope}{prefix.lower()}"
        admin = self.client()
        role: JsonObject = {"metadata": {"name": name}, "rules": list(rules)}
        admin.post(f"{base}roles", role).expect(201)
        binding: JsonObject = {
            "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": f"{prefix}Role", "name": name},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": identity}],
        }
        admin.post(f"{base}rolebindings", binding).expect(201)
        self.wait_until(lambda: self._rules_hold(identity, rules, namespace), f"{identity} has its new rights")

    def _rules_hold(self, identity: str, rules: Sequence[JsonObject], namespace: str | None) -> bool:
        # What each rule names first stands for the rule: the server learns of a role as a whole.
        for rule in rules:
            resource, _, subresource = (get_str(rule, "resources", 0) or "").partition("/")
            attributes: JsonObject = {
                "namespace": namespace or "",
                "verb": get(rule, "verbs", 0),
                "group": get(rule, "apiGroups", 0),
                "resource": resource,
                "subresource": subresource,
                "name": get(rule, "resourceNames", 0),
            }
            review: JsonObject = {"spec": {"user": identity, "resourceAttributes": attributes}}
            answer = self.client().post("/apis/authorization.k8s.io/v1/subjectaccessreviews", review).expect(201)
            if get(answer.body, "status", "allowed") is not True:
                return False
        return True


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _private(path: Path) -> Path:
    path.touch(mode=0o600, exist_ok=False)
    return path


def _write_private(path: Path, text: str) -> None:
    _private(path).write_text(text)


@contextmanager
def run_control_plane(
    programs: Path,
    folder: Path,
    *,
    identities: Sequence[str] = POWERLESS,
    admission_plugins: Sequence[str] = (),
) -> Iterator[ControlPlane]:
    """Run a control plane from the programs in one folder and remove everything it kept in the other."""
    plane = ControlPlane(programs, folder, identities=identities, admission_plugins=admission_plugins)
    try:
        plane.start()
        yield plane
    finally:
        plane.stop()
        shutil.rmtree(folder, ignore_errors=True)
