"""A cluster that stops answering while it is copied: whoever has waited enough is let go at once."""

import signal
import subprocess
import sys
import threading

import pytest

from aim_rehearsal.session import ADMIN, RehearsalSession
from aim_rehearsal.worlds import load_world

COPY = (sys.executable, "-m", "aim_template_migration", "rehearse", "--namespace", "team-a")
PROMPTLY = 15  # seconds, of which the tool needs none; a request may take 30


@pytest.fixture
def silent(tmp_path):
    """Return a function that serves a cluster which answers no request for a resource, and its kubeconfig."""
    asked, answer = threading.Event(), threading.Event()
    sessions = []

    def serve(resource):
        def hook(request, response):
            by_tool = request.headers.get("user-agent", "").startswith("aim-template-migration")
            if response is None and by_tool and f"/{resource}" in request.target:
                asked.set()
                answer.wait(60)

        session = RehearsalSession(load_world("shared-happy-path"), work_dir=tmp_path, faults=hook)
        session.__enter__()
        sessions.append(session)
        return session.kubeconfig(ADMIN), asked

    yield serve
    answer.set()
    for session in sessions:
        session.__exit__(None, None, None)


@pytest.mark.slow
@pytest.mark.parametrize("resource", ["customresourcedefinitions", "aimclustermodels", "aimservices"])
@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_copying_of_a_cluster_that_no_longer_answers(silent, tmp_path, resource, signum):
    kubeconfig, asked = silent(resource)
    process = subprocess.Popen(
        [*COPY, "--kubeconfig", str(kubeconfig)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert asked.wait(60)
        process.send_signal(signum)
        _, said = process.communicate(timeout=PROMPTLY)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 130
    assert said.splitlines()[-1] == "interrupted"
    assert "Traceback" not in said
