"""What a campaign has played so far, by world and class of points, and the same as JSON."""

import json
import os
import platform
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aim_template_migration.version import __version__
from tests.faults.campaign import Choice
from tests.faults.families import Part
from tests.faults.tally import Tally
from tests.faults.workers import Played


@dataclass(slots=True)
class Row:
    """One class of points in one world.

    Attributes:
        tally: the counts.
        shares: how many shares were played to their end.
        of: how many were chosen; 0 where there is no end.
    """

    of: int
    shares: int = 0
    tally: Tally = field(default_factory=Tally)


class Accounts:
    """Adds up what comes of the shares of a campaign."""

    def __init__(self, choice: Choice) -> None:
        self._choice = choice
        self._rows: dict[tuple[str, str], Row] = {}
        self._began = datetime.now(UTC)
        self.total = Tally()
        self.troubles: list[str] = []
        for part in choice.parts():
            self._rows.setdefault((part.world, part.name), Row(0)).of += 1 if part.of else 0

    def add(self, part: Part, played: Played) -> None:
        """Add one share."""
        row = self._rows.setdefault((part.world, part.name), Row(0))
        row.tally.join(played.tally)
        row.shares += played.complete
        self.total.join(played.tally)
        if played.trouble:
            self.troubles.append(f"{part}: {played.trouble}")

    @property
    def is_complete(self) -> bool:
        """Whether every point of the choice was played; a random campaign is never complete and never wanting."""
        return all(row.shares >= row.of for row in self._rows.values())

    def write(self, file: Path) -> None:
        """Write the counts; a reader never sees half of them."""
        new = file.with_name(f"{file.name}.new")
        new.write_text(json.dumps(self._document(), indent=2) + "\n")
        os.replace(new, file)

    def _document(self) -> dict[str, Any]:
        return {
            "campaign": self._choice.name,
            "version": __version__,
            "python": platform.python_version(),
            "began": self._began.isoformat(timespec="seconds"),
            "written": datetime.now(UTC).isoformat(timespec="seconds"),
            "thorough": self._choice.thorough,
            **({"seed": self._choice.seed} if self._choice.is_random else {}),
            "complete": self.is_complete,
            **_counts(self.total),
            "classes": [
                {"world": world, "class": name, "shares": row.shares, "of": row.of, **_counts(row.tally)}
                for (world, name), row in sorted(self._rows.items())
            ],
            "violated": self.total.violated,
            "troubles": self.troubles,
        }


def _counts(tally: Tally) -> dict[str, int]:
    return {"points": len(tally.places), "faults": tally.faults, "violations": tally.violations}
