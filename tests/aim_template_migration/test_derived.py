"""Attributes that are derived once."""

from dataclasses import dataclass

from aim_template_migration.derived import derived, kept


@dataclass(frozen=True)
class Named:
    name: str

    @derived
    def letters(self) -> list[str]:
        """The letters."""
        return list(self.name)


def test_a_value_is_computed_once_for_each_instance():
    one, other = Named("ab"), Named("c")
    assert one.letters == ["a", "b"]
    assert one.letters is one.letters
    assert other.letters == ["c"]


def test_it_is_part_neither_of_equality_nor_of_the_documentation_of_instances():
    one = Named("ab")
    assert one.letters
    assert one == Named("ab")
    assert Named.letters.__doc__ == "The letters."


def test_a_fact_is_computed_once_for_each_object_and_goes_with_it():
    asked = []

    @kept
    def length(named: Named) -> int:
        asked.append(named.name)
        return len(named.name)

    @kept
    def first(named: Named) -> str | None:
        asked.append(named.name)
        return None

    one, equal = Named("ab"), Named("ab")
    assert [length(one), length(one), length(equal)] == [2, 2, 2]
    assert [first(one), first(one)] == [None, None]
    assert asked == ["ab", "ab", "ab"]
    assert one == equal
