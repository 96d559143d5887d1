"""Generated fleets from the command line: a thousand services in one process, and a stop while they load."""

import os
import resource
import signal
import subprocess
import sys

import msgspec
import pytest

COMMAND = [sys.executable, "-m", "aim_template_migration", "rehearse"]
MEBIBYTE = 1024
MOST_MEMORY = 700 * MEBIBYTE
pytestmark = pytest.mark.slow


def test_a_thousand_services_are_rehearsed_in_bounded_memory():
    done = subprocess.run(
        [*COMMAND, "--fleet", "50x20", "--limit", "5", "--soak", "0s", "-o", "json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    report = msgspec.json.decode(done.stdout)
    services = [unit for unit in report["units"] if unit["id"].startswith("AIMService/")]
    assert len(services) == 1000
    assert report["counts"]["succeeded"] == 5
    assert report["counts"]["manual"] + report["counts"]["skipped"] == len(report["units"]) - 5
    assert report["audit"] == {"mutations": 20, "dryRuns": 25, "deletes": 0, "secretReads": 0}
    for unit in services:
        assert unit["inferenceService"]["before"] == unit["inferenceService"]["after"]
        assert unit["pods"]["before"] == unit["pods"]["after"]
    # Of all processes that this one has waited for the largest, in kilobytes.
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < MOST_MEMORY


def test_a_stop_while_a_fleet_loads_ends_the_command_and_leaves_nothing(tmp_path):
    process = subprocess.Popen(
        [*COMMAND, "--fleet", "40x20"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    for line in process.stderr:
        if line.startswith("the operator looks at everything"):
            break
    process.send_signal(signal.SIGINT)
    rest = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert "Traceback" not in rest
    assert list(tmp_path.iterdir()) == []
