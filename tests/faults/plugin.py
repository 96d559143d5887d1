"""The terminal summary of the fault tests: how many points there were, with how many faults, and what was violated.

What is counted travels as properties of reports, so that it adds up over the processes of pytest-xdist.
"""

from collections.abc import Callable

import pytest

from tests.faults.tally import Tally, summary

_PLACES, _FAULTS, _VIOLATIONS = "fault places", "faults", "fault violations"


def record(record_property: Callable[[str, object], None], tally: Tally) -> None:
    """Let a test's report carry a tally."""
    record_property(_PLACES, sorted(tally.places))
    record_property(_FAULTS, tally.faults)
    record_property(_VIOLATIONS, tally.violations)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the counts, if any point was played."""
    tally = Tally()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", "") == "call":
                _add(tally, report.user_properties)
    if tally.faults:
        terminalreporter.section("faults")
        terminalreporter.write_line(summary(tally))


def _add(tally: Tally, properties: list[tuple[str, object]]) -> None:
    for name, value in properties:
        if name == _PLACES and isinstance(value, list):
            tally.places.update(value)
        elif name == _FAULTS and isinstance(value, int):
            tally.faults += value
        elif name == _VIOLATIONS and isinstance(value, int):
            tally.violations += value
