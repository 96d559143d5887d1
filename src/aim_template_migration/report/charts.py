"""Where the pieces of the charts lie, in percent, and their words for those who can't see them (pure)."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from aim_template_migration.report.history import StepTimes, UnitHistory, rfc3339
from aim_template_migration.report.model import Bar, Lane, Part, Span, Timeline, UnitRow
from aim_template_migration.report.states import STATES, counted

MOST_BARS = 40
MOST_LANES = 40
BUCKETS = 48
_NARROWEST = 0.25


def namespace_bars(rows: Iterable[UnitRow]) -> tuple[Bar, ...]:
    """Return one bar for each namespace, the largest first, on one common scale."""
    states: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows:
        states[row.namespace or "(cluster)"].append(row.state)
    widest = max((len(found) for found in states.values()), default=1)
    ordered = sorted(states.items(), key=lambda item: (-len(item[1]), item[0]))
    return tuple(_bar(label, counted(found), widest) for label, found in ordered)


def timeline(rows: Sequence[UnitRow], histories: Mapping[str, UnitHistory]) -> Timeline | None:
    """Return the run over time, or None where no step is on record."""
    run = [(row, histories[row.id]) for row in rows if row.id in histories and histories[row.id].steps]
    if not run:
        return None
    begin = min(history.steps[0].begun for _, history in run)
    end = max(_last(history) for _, history in run)
    length = max(end - begin, 0.001)
    ordered = sorted(run, key=lambda item: (STATES.index(item[0].state), -(item[1].seconds or 0.0), item[0].id))
    finished = _finished(run, begin, length)
    return Timeline(
        started=rfc3339(begin),
        ended=rfc3339(end),
        seconds=end - begin,
        finished=finished,
        highest=max((bar.total for bar in finished), default=0),
        lanes=tuple(_lane(row, history, begin, end, length) for row, history in ordered[:MOST_LANES]),
        left_out=max(len(run) - MOST_LANES, 0),
    )


def _bar(label: str, counts: tuple[tuple[str, int], ...], scale: int) -> Bar:
    parts: list[Part] = []
    x = 0.0
    for state, number in counts:
        width = 100 * number / scale
        parts.append(Part(state, number, round(x, 3), round(width, 3)))
        x += width
    total = sum(number for _, number in counts)
    words = ", ".join(f"{number} {state}" for state, number in counts) or "none"
    return Bar(label, total, tuple(parts), f"{label}: {words}")


def _finished(run: Sequence[tuple[UnitRow, UnitHistory]], begin: float, length: float) -> tuple[Bar, ...]:
    """Return how many units ended in each part of the run; the widths of the parts are their heights."""
    buckets: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for row, history in run:
        if history.ended is not None:
            buckets[min(int((history.ended - begin) / length * BUCKETS), BUCKETS - 1)][row.state] += 1
    highest = max((found.total() for found in buckets.values()), default=1)
    part = length / BUCKETS
    return tuple(
        _bar(f"{index * part:.1f} s to {(index + 1) * part:.1f} s", counted(buckets[index].elements()), highest)
        for index in range(BUCKETS)
    )


def _lane(row: UnitRow, history: UnitHistory, begin: float, end: float, length: float) -> Lane:
    spans = tuple(_span(step, begin, end, length) for step in history.steps)
    label = f"{row.namespace}/{row.name}" if row.namespace else row.name
    return Lane(label, row.state, spans, f"{label}, {row.state}: {', '.join(span.text for span in spans)}")


def _span(step: StepTimes, begin: float, end: float, length: float) -> Span:
    ended = end if step.ended is None else step.ended
    x = 100 * (step.begun - begin) / length
    width = max(100 * (ended - step.begun) / length, _NARROWEST)
    took = "not ended" if step.seconds is None else f"{step.seconds:.1f} s"
    return Span(step.name, round(min(x, 100 - _NARROWEST), 3), round(width, 3), f"{step.name} {took}")


def _last(history: UnitHistory) -> float:
    ends = [step.begun if step.ended is None else step.ended for step in history.steps]
    return max(*ends, history.ended or 0.0) if len(ends) > 1 or history.ended else ends[0]
