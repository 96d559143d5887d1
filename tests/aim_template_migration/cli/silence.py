"""A fleet whose server falls silent: requests stay open without a byte."""

import contextlib
import threading

from benchmarks.page_server import PageCore, serving, space_name

SERVICES, NAMESPACES = 3, 6
SOON = 20
"""Seconds within which a command must have ended; a request that it waited for would take a minute."""


class FallingSilent(PageCore):
    """Answers until it is silenced; from then on, requests in the fleet's namespaces stay open without a byte."""

    def __init__(self, session):
        super().__init__(session, NAMESPACES)
        self.silent, self.asked, self.over = False, threading.Event(), threading.Event()

    def handle(self, request):
        if self.silent and f"/namespaces/{space_name(0)[:-6]}" in request.target:
            self.asked.set()
            self.over.wait()
        return super().handle(request)


@contextlib.contextmanager
def speaking(core, folder):
    """Serve a fleet that is not silent yet, and yield the kubeconfig; in the end no request stays open."""
    core.silent = False
    core.asked.clear()
    core.over.clear()
    with serving(core, folder) as kubeconfig:
        yield kubeconfig
        core.over.set()


def namespaces():
    return tuple(space_name(number) for number in range(NAMESPACES))


def plan_options(kubeconfig, directory):
    """Return the words of a plan of the whole fleet."""
    names = [part for name in namespaces() for part in ("--namespace", name)]
    return ["--runtime-projection-mode", "Both", "--kubeconfig", kubeconfig, "--output-dir", directory, *names]
