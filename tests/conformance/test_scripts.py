"""The same requests to a real API server and to the local API are answered alike."""

import json
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.conformance.comparing import Difference, differences, selected
from tests.conformance.known_differences import DOCUMENT, Ledger, known_differences
from tests.conformance.playing import ClientOf, Played, Player, kind_paths
from tests.conformance.script import Script, load_script, script_names
from tests.conformance.servers import LocalPlane
from tests.support.controlplane.server import ControlPlane

LEAST_STEPS = 300


def played_on_both(script: Script, real: ControlPlane, local: LocalPlane) -> tuple[list[Played], list[Played]]:
    namespace = f"{script.name}-{secrets.token_hex(4)}"

    def play(client_of: ClientOf, forget: Callable[[], object], *, must_agree: bool) -> list[Played]:
        admin = client_of("admin")
        admin.post("/api/v1/namespaces", {"metadata": {"name": namespace}}).expect(201)
        try:
            return Player(client_of, {**kind_paths(), "namespace": namespace}, forget, must_agree).play(script)
        finally:
            admin.delete(f"/api/v1/namespaces/{namespace}")

    with ThreadPoolExecutor(2) as pool:
        on_local = pool.submit(play, local.client, local.server.store.forget_history, must_agree=False)
        on_real = play(real.client, real.compact_history, must_agree=True)
        return on_real, on_local.result()


def found_differences(script: Script, on_real: list[Played], on_local: list[Played]) -> list[tuple[Played, Difference]]:
    found = []
    for one, other in zip(on_real, on_local, strict=True):
        step = one.step
        pairs = differences(selected(one.answer, one.only), selected(other.answer, other.only), lists=step.lists)
        found += [(one, Difference(script.name, step.name, *difference)) for difference in pairs]
    return found


def shown(script: Script, found: list[tuple[Played, Difference]], on_local: list[Played]) -> str:
    """Return every difference, and for each step that has one both answers."""
    lines = []
    answers = {item.step.name: item.answer for item in on_local}
    for played in dict.fromkeys(item.step.name for item, _ in found):
        of_step = [(item, difference) for item, difference in found if item.step.name == played]
        one = of_step[0][0]
        lines.append(f"--- {script}: {played}: {one.request}")
        lines += [f"  {difference}" for _, difference in of_step]
        lines.append(f"  real answer:  {json.dumps(one.answer)[:4000]}")
        lines.append(f"  local answer: {json.dumps(answers[played])[:4000]}")
    return "\n".join(lines)


@pytest.mark.parametrize("name", script_names())
def test_script(name: str, real_plane: ControlPlane, local_plane: LocalPlane) -> None:
    ledger = Ledger(row for row in known_differences() if row.script == name)
    reports = []
    for script in load_script(name):
        on_real, on_local = played_on_both(script, real_plane, local_plane)
        found = found_differences(script, on_real, on_local)
        unknown = [item for item in found if not ledger.is_known(item[1])]
        if unknown:
            reports.append(shown(script, unknown, on_local))
    ledger.check(reports)


@pytest.mark.slow
def test_there_are_enough_steps_and_the_documentation_counts_them() -> None:
    steps = sum(len(script.steps) for name in script_names() for script in load_script(name))
    counted = f"{steps:,} requests in {len(script_names())} scripts"
    assert steps >= LEAST_STEPS
    assert counted in DOCUMENT.read_text(), counted
