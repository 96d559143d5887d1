"""Free loopback ports that nobody else can take before the server that is to listen there has started."""

import socket

LOOPBACK = "127.0.0.1"


class ReservedPort:
    """A port held by a bound socket that does not listen.

    The server must bind it with SO_REUSEPORT (etcd: ``--socket-reuse-port``; kube-apiserver:
    ``--permit-port-sharing``). While the reservation is held, the kernel gives the port to no other program, and the
    reservation itself no connection.
    """

    def __init__(self) -> None:
        """Reserve a port."""
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._socket.bind((LOOPBACK, 0))
        self.number: int = self._socket.getsockname()[1]

    @property
    def answers(self) -> bool:
        """Whether a server accepts connections."""
        try:
            socket.create_connection((LOOPBACK, self.number), timeout=1).close()
        except OSError:
            return False
        return True

    def release(self) -> None:
        """Give the port back."""
        self._socket.close()
