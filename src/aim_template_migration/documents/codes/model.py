"""What is said of every code."""

from dataclasses import dataclass
from typing import Literal

CodeKind = Literal[
    "outcome",
    "reason",
    "warning",
    "imputation",
    "stepFailure",
    "runFailure",
    "unitResult",
    "inspection",
    "verification",
    "prerequisite",
]


@dataclass(frozen=True, slots=True)
class Code:
    """One code of the closed set.

    Attributes:
        code: the word itself, in CamelCase.
        kind: where it can appear.
        summary: one sentence: the one condition under which it appears.
        advice: one or two sentences: what an administrator does.
    """

    code: str
    kind: CodeKind
    summary: str
    advice: str
