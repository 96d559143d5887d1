"""Paths of fields as Kustomize writes them, in replacements with dots and in configurations with slashes (pure)."""

import re

from aim_api.tree import Json, Key, get, get_list, get_str

_ITEMS = "[]"
_CHOSEN = re.compile(r"\[([^=\]]+)=([^\]]*)\]")


def keys_of(text: str, separator: str, value: Json = None) -> tuple[Key, ...]:
    """Return the keys of a path.

    Args:
        text: the path.
        separator: what stands between two of its parts.
        value: the object in which an item of a list is looked up that the path names by one of its fields; the first
            item stands for what is not found, and for all items.
    """
    keys: list[Key] = []
    for part in re.split(rf"(?<!\\){re.escape(separator)}", text) if text else ():
        name = part.replace(f"\\{separator}", separator)
        chosen = _CHOSEN.fullmatch(name)
        if chosen:
            items = get_list(value, *keys)
            found = (index for index, item in enumerate(items) if get_str(item, chosen[1]) == chosen[2])
            keys.append(next(found, 0))
        elif name == "*" or (name.isdecimal() and not isinstance(get(value, *keys), dict)):
            keys.append(0 if name == "*" else int(name))
        else:
            keys.append(name.removesuffix(_ITEMS))
            keys += [0] if name.endswith(_ITEMS) else []
    return tuple(keys)
