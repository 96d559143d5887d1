"""What a validation found, and where."""

from dataclasses import dataclass
from typing import Literal

from aim_api.tree import Key
from aim_template_migration.manifests.located import ManifestFile
from aim_template_migration.manifests.objects import ObjectPlace, position_of
from aim_template_migration.mapping.recipes.draft import id_of

Level = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that is wrong, or that should be known, at one place.

    Attributes:
        file: the file as it was named.
        line: the line, from 1.
        column: the column, from 1.
        object: id of the object, empty for the file.
        field: the field, empty for the object or file.
        reason: the API server's word for it, such as ``FieldValueForbidden``, or a word of these modules.
        message: the API server's words where it has any.
        equivalent: what v1alpha2 has instead, or what to do; empty where nothing is known.
        trap: the row of the guide's table of validation traps, 0 for none.
        level: an error is refused by the server or by kubectl; a warning is taken, though hardly meant as it stands; a
            note is only to be known.
    """

    file: str
    line: int
    column: int
    object: str
    field: str
    reason: str
    message: str
    equivalent: str = ""
    trap: int = 0
    level: Level = "error"


@dataclass(frozen=True, slots=True)
class Validation:
    """The outcome.

    Attributes:
        violations: what was found, by file and place.
        objects: how many objects of the AIM API were looked at.
        others: how many objects of other APIs were not.
        refused: how many objects of the AIM API would be refused.
    """

    violations: tuple[Violation, ...]
    objects: int
    others: int
    refused: int

    @property
    def valid(self) -> bool:
        """Whether every object would be taken."""
        return all(violation.level != "error" for violation in self.violations)

    @property
    def flawless(self) -> bool:
        """Whether there is nothing to mend: neither an error nor a warning."""
        return all(violation.level == "note" for violation in self.violations)


def violation_at(
    file: ManifestFile,
    place: ObjectPlace,
    path: tuple[Key, ...],
    reason: str,
    message: str,
    *,
    field: str,
    equivalent: str = "",
    trap: int = 0,
    level: Level = "error",
) -> Violation:
    """Return a violation of an object: it stands where a path in it leads to, and names a field."""
    position = position_of(file.manifest, place, path)
    named = id_of(place.value)
    return Violation(file.name, position.line, position.column, named, field, reason, message, equivalent, trap, level)
