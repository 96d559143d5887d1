"""What one pass of a pipeline over a service decided."""

from dataclasses import dataclass, field

from aim_api.tree import JsonObject
from aim_rehearsal.operator.conditions import Condition
from aim_rehearsal.operator.writes import Write


@dataclass(frozen=True, slots=True)
class Outcome:
    """The writes of one pass and what it reports.

    Attributes:
        writes: children to render, before the status is written.
        conditions: the conditions that this pass found.
        fields: the status fields to set, apart from conditions and the status word.
        silent: whether the pass leaves the service's status as it is.
    """

    writes: list[Write] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)
    fields: JsonObject = field(default_factory=dict)
    silent: bool = False
