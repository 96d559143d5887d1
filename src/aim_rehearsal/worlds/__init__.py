"""Sample fleets for rehearsals."""

from aim_rehearsal.worlds.applying import apply_world
from aim_rehearsal.worlds.expansion import WorldError
from aim_rehearsal.worlds.fleet import fleet
from aim_rehearsal.worlds.world import DEFAULT_WORLD, World, load_world, parse_world, world_names

__all__ = ["DEFAULT_WORLD", "World", "WorldError", "apply_world", "fleet", "load_world", "parse_world", "world_names"]
