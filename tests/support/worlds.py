"""Sample fleets for servers that several tests share."""

import dataclasses
import json

from aim_rehearsal.worlds import World, load_world


def renamed(name: str, suffix: str) -> World:
    """Return a world in namespaces of its own, for a server that several tests share."""
    world = load_world(name)
    text = json.dumps(world.objects)
    for namespace in world.namespaces:
        text = text.replace(namespace, f"{namespace}-{suffix}")
    namespaces = tuple(f"{namespace}-{suffix}" for namespace in world.namespaces)
    return dataclasses.replace(world, namespaces=namespaces, objects=tuple(json.loads(text)))
