"""Faults at the points of a run, and the invariants after them; ``python -m tests.faults`` plays more of them."""

import pytest

from tests.faults.families import ci, quick


def test_a_few_points_of_every_class(player_of, play):
    part = quick()
    player = player_of(part.world)
    play(player, part.points(player))


@pytest.mark.slow
@pytest.mark.parametrize("part", ci(), ids=str)
def test_points(player_of, play, part):
    player = player_of(part.world)
    play(player, part.points(player))
