"""What became of the parts of an object (pure)."""

from dataclasses import dataclass

from msgspec import Struct

from aim_api.tree import Key
from aim_template_migration.mapping.fates import Fate

Path = tuple[Key, ...]


class LeafFate(Struct, frozen=True):
    """What became of one leaf of an input.

    Attributes:
        path: the leaf.
        fate: what became of it.
        object: id of the object that it is carried to, empty where it is not.
        target: where in that object, empty where it has no one place.
        reason: one sentence that says why.
        advice: one sentence that says what a person can do; empty where there is nothing to do.
        lost: it is not in the output, or is there in a form that v1alpha2 refuses: a person has to decide.
    """

    path: Path
    fate: Fate
    object: str
    target: Path
    reason: str
    advice: str = ""
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Gap:
    """A value that an output needs and that nothing states; it is left out, so that the server refuses the object.

    Attributes:
        object: id of the output.
        path: the field that lacks its value.
        near: the leaf of the input to point at.
        message: what is needed, and where it can be stated.
    """

    object: str
    path: Path
    near: Path
    message: str


@dataclass(frozen=True, slots=True)
class Note:
    """Something to know about a conversion that lost nothing: an assumption, or an effect.

    Attributes:
        near: the leaf of the input to point at.
        message: one sentence.
    """

    near: Path
    message: str
