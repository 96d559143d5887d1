"""What the page shows, as values: nothing here knows of HTML (pure)."""

import msgspec


class View(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Base of the values that the page gets, the template's and the script's alike."""


class FindingView(View, frozen=True):
    """A reason or a warning; ``advice`` is empty where it is the code's own."""

    code: str
    object: str
    message: str
    field: str = ""
    advice: str = ""


class StepView(View, frozen=True):
    """One step of a unit.

    Attributes:
        name: its name.
        text: what it does, in one sentence.
        state: ``planned``, ``begun`` or ``completed``.
        started: when it was begun, RFC 3339, empty where no journal says so.
        seconds: how long it took, None where it did not end or no journal says so.
        requests: its writes and their outcomes.
    """

    name: str
    text: str
    state: str
    started: str = ""
    seconds: float | None = None
    requests: tuple[str, ...] = ()


class ChangeView(View, frozen=True):
    """The difference that a unit makes to one object; each line is a mark (``+``, ``-``, space) and its text."""

    object: str
    how: str
    lines: tuple[tuple[str, str], ...]


class ComparisonView(View, frozen=True):
    """One fact of the running workload before and after the cutover; no verdict where one side was not read."""

    label: str
    before: str
    after: str
    verdict: str


class PinView(View, frozen=True):
    """A fact that must still hold when the unit is applied."""

    object: str
    fact: str


class ImputationView(View, frozen=True):
    """A value of a target that the predecessor states elsewhere."""

    object: str
    field: str
    value: str
    source: str
    rule: str


class UnitDetail(View, frozen=True):
    """Everything about one unit that its row has no room for.

    Attributes:
        facts: labels with their values.
        not_checked: what the run could not check.
        after_expiry: what a later spec change would roll.
        secrets: Secrets that the closure names; never read.
    """

    facts: tuple[tuple[str, str], ...] = ()
    reasons: tuple[FindingView, ...] = ()
    warnings: tuple[FindingView, ...] = ()
    steps: tuple[StepView, ...] = ()
    changes: tuple[ChangeView, ...] = ()
    comparisons: tuple[ComparisonView, ...] = ()
    pins: tuple[PinView, ...] = ()
    imputations: tuple[ImputationView, ...] = ()
    not_checked: tuple[str, ...] = ()
    after_expiry: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()


class UnitRow(View, frozen=True):
    """One line of the table.

    Attributes:
        plan: number of the plan in the report, from 0.
        state: the unit's status after a run, else its disposition.
        step: the last step that completed.
        seconds: from the unit's first step to its end, None where no journal says so.
        warnings: number of its warnings.
    """

    plan: int
    id: str
    kind: str
    namespace: str
    name: str
    disposition: str
    outcome: str
    state: str
    step: str = ""
    seconds: float | None = None
    warnings: int = 0


class Part(View, frozen=True):
    """One piece of a bar: where it begins and how wide it is, in percent of the chart."""

    state: str
    count: int
    x: float
    width: float


class Bar(View, frozen=True):
    """One bar of a chart, with what a person who can't see it is told."""

    label: str
    total: int
    parts: tuple[Part, ...]
    text: str


class Span(View, frozen=True):
    """One step on a lane of the timeline: its place and width in percent of the run, and what it was."""

    step: str
    x: float
    width: float
    text: str


class Lane(View, frozen=True):
    """One unit on the timeline."""

    label: str
    state: str
    spans: tuple[Span, ...]
    text: str


class Timeline(View, frozen=True):
    """A run over time.

    Attributes:
        started: its first event, RFC 3339.
        ended: its last event.
        seconds: between both.
        finished: how many units ended in each part of the run, as bars of equal width.
        lanes: some units, those in trouble and the slowest first.
        left_out: how many units have no lane.
    """

    started: str
    ended: str
    seconds: float
    finished: tuple[Bar, ...]
    highest: int
    lanes: tuple[Lane, ...]
    left_out: int


class PlanSection(View, frozen=True):
    """One plan of the report, at a glance.

    Attributes:
        facts: labels with their values, of plan and run.
        problems: what is wrong with the files of the run.
        warnings: findings of the plan as a whole.
        states: number of units in each state, states without a unit left out.
        namespaces: units by state in each namespace, the largest.
        more_namespaces: how many namespaces have no bar.
        outcomes: units by namespace and outcome, as a table.
        timeline: the run over time, None without a journal.
    """

    label: str
    facts: tuple[tuple[str, str], ...]
    problems: tuple[str, ...]
    warnings: tuple[FindingView, ...]
    states: tuple[tuple[str, int], ...]
    namespaces: tuple[Bar, ...]
    more_namespaces: int
    outcomes: tuple[tuple[str, str, int], ...]
    timeline: Timeline | None


class CodeView(View, frozen=True):
    """What a code means and what to do about it."""

    summary: str
    advice: str


class Report(View, frozen=True):
    """The whole page.

    Attributes:
        made_at: when it was made, RFC 3339.
        tool_version: by which version.
        plans: the plans.
        rows: the units, in the order of plans and units.
        details: the same units with everything else.
        codes: the codes that occur.
        limits: the closing statement (R, "Controlled-development limitations").
    """

    made_at: str
    tool_version: str
    plans: tuple[PlanSection, ...]
    rows: tuple[UnitRow, ...]
    details: tuple[UnitDetail, ...]
    codes: dict[str, CodeView]
    limits: str
