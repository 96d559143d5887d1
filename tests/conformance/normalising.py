"""Takes out of answers what no two servers can have in common, and keeps what it means.

UIDs and the resource versions of objects become numbers in the order in which a script first sees them, so that two
answers are equal only if the same objects are equal, changed or replaced in them.
"""

import re
from fnmatch import fnmatchcase

from aim_api.tree import Json, JsonObject, get_str

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?P<fraction>\.\d+)?Z")
# An object that is quoted in a message.
_QUOTED_VERSION = re.compile(r'(?P<key>resourceVersion\\*":\\*")(?P<version>\d+)')
_AGE = re.compile(r"(\d+[ydhms])+|<invalid>|<unknown>")


class Normaliser:
    """Normalises the answers of one server to one script, in the order in which they came."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._uids: dict[str, str] = {}
        self._versions: dict[str, str] = {}
        self._names: dict[str, str] = {}

    def normalised(self, value: Json, normalise: tuple[str, ...] = ()) -> Json:
        """Return an answer without what differs between servers.

        Args:
            value: the answer.
            normalise: JSON pointers of more that differs; ``*`` matches anything.
        """
        return self._value(value, "", normalise)

    def _value(self, value: Json, pointer: str, normalise: tuple[str, ...]) -> Json:
        if any(fnmatchcase(pointer, pattern) for pattern in normalise):
            return f"<{type(value).__name__}>"
        if isinstance(value, dict):
            return self._object(value, pointer, normalise)
        if isinstance(value, list):
            items = [self._value(item, f"{pointer}/{index}", normalise) for index, item in enumerate(value)]
            if pointer.endswith("/cells"):
                return ["<age>" if isinstance(item, str) and _AGE.fullmatch(item) else item for item in items]
            # Within a second the server orders entries by name, beyond by time.
            return sorted(items, key=_entry_order) if pointer.endswith("/managedFields") else items
        return self.text(value) if isinstance(value, str) else value

    def _object(self, value: JsonObject, pointer: str, normalise: tuple[str, ...]) -> Json:
        prefix, generated = get_str(value, "generateName"), get_str(value, "name")
        if prefix and generated and re.fullmatch(f"{re.escape(prefix)}[a-z0-9]{{5}}", generated):
            self._names.setdefault(generated, f"{prefix}<generated {len(self._names) + 1}>")
        shown: JsonObject = {}
        # The order of keys means nothing, but numbers are given in the order of what is seen.
        for key, item in sorted(value.items()):
            if key == "resourceVersion" and isinstance(item, str) and item:
                shown[key] = self._version(item) if "uid" in value else "<version>"
            elif key == "continue" and item:
                shown[key] = "<continue>"
            else:
                escaped = key.replace("~", "~0").replace("/", "~1")
                shown[key] = self._value(item, f"{pointer}/{escaped}", normalise)
        return shown

    def _version(self, text: str) -> str:
        return self._versions.setdefault(text, f"<version {len(self._versions) + 1}>")

    def text(self, text: str) -> str:
        """Return a text with UIDs, times and generated names replaced."""
        for name, shown in self._names.items():
            text = text.replace(name, shown)
        text = _QUOTED_VERSION.sub(lambda match: match["key"] + self._version(match["version"]), text)
        text = _UUID.sub(lambda match: self._uids.setdefault(match[0], f"<uid {len(self._uids) + 1}>"), text)
        return _TIME.sub(lambda match: "<time with fraction>" if match["fraction"] else "<time>", text)


def _entry_order(entry: Json) -> tuple[str, ...]:
    return tuple(str(get_str(entry, key)) for key in ("operation", "manager", "apiVersion", "subresource"))
