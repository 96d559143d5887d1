"""Sample fleets for rehearsals."""

from aim_rehearsal.worlds.applying import RefusedError, apply_world
from aim_rehearsal.worlds.copied import copied_world
from aim_rehearsal.worlds.expansion import WorldError
from aim_rehearsal.worlds.fleet import fleet
from aim_rehearsal.worlds.world import DEFAULT_WORLD, World, load_world, parse_world, world_names

__all__ = [
    "DEFAULT_WORLD",
    "RefusedError",
    "World",
    "WorldError",
    "apply_world",
    "copied_world",
    "fleet",
    "load_world",
    "parse_world",
    "world_names",
]
