"""Takes out of answers what no two servers can have in common, and keeps what it means.

UIDs and the resource versions of objects are called after the step that first saw them, so that two answers are equal
only if the same objects are equal, changed or replaced in them.
"""

import re
from fnmatch import fnmatchcase

from aim_api.tree import Json, JsonObject, get_map, get_objects, get_str

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?P<fraction>\.\d+)?Z")
# Of an object that a message quotes, or of a precondition.
_QUOTED_VERSION = re.compile(r'(?P<key>resourceVersion\\*":\\*"|ResourceVersion in record \()(?P<version>\d+)')
# How far the history of a server reaches is its own affair.
_OLDEST = re.compile(r"(too old resource version: \d+) \(\d+\)")
_AGE = re.compile(r"(\d+[ydhms])+|<invalid>|<unknown>")


class Normaliser:
    """Normalises the answers of one server to one script, in the order in which they came."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._step = ""
        self._seen = 0
        self._uids: dict[str, str] = {}
        self._versions: dict[str, str] = {}
        self._names: dict[str, str] = {}

    def normalised(self, value: Json, step: str, normalise: tuple[str, ...] = ()) -> Json:
        """Return an answer without what differs between servers.

        Args:
            value: the answer.
            step: the name of the step that it answers.
            normalise: JSON pointers of more that differs; ``*`` matches anything.
        """
        self._step, self._seen = step, 0
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
            self._called(self._names, generated, f"name from {prefix}")
        shown: JsonObject = {}
        # The order of keys means nothing, but numbers are given in the order of what is seen.
        for key, item in sorted(value.items()):
            escaped = key.replace("~", "~0").replace("/", "~1")
            if key == "resourceVersion" and isinstance(item, str) and item:
                shown[key] = self._version(item) if "uid" in value else "<version>"
            elif key == "continue" and item:
                shown[key] = "<continue>"
            else:
                # Keys of managed fields name items of lists by their UIDs.
                shown[self.text(key)] = self._value(item, f"{pointer}/{escaped}", normalise)
        return _with_sorted_causes(shown) if value.get("kind") == "Status" else shown

    def _called(self, known: dict[str, str], text: str, what: str) -> str:
        if text not in known:
            self._seen += 1
            known[text] = f"<{what} {self._seen} of: {self._step}>"
        return known[text]

    def _version(self, text: str) -> str:
        return self._called(self._versions, text, "version")

    def text(self, text: str) -> str:
        """Return a text with UIDs, times and generated names replaced."""
        for name, shown in self._names.items():
            text = text.replace(name, shown)
        text = _QUOTED_VERSION.sub(lambda match: match["key"] + self._version(match["version"]), text)
        text = _OLDEST.sub(r"\1 (<oldest>)", text)
        text = _UUID.sub(lambda match: self._called(self._uids, match[0], "uid"), text)
        return _TIME.sub(lambda match: "<time with fraction>" if match["fraction"] else "<time>", text)


def _with_sorted_causes(status: JsonObject) -> JsonObject:
    """Return a Status with its causes in order: a real server finds those of one object in random order."""
    causes = get_objects(status, "details", "causes")
    message = get_str(status, "message") or ""
    parts = list(dict.fromkeys(f"{cause.get('field')}: {cause.get('message')}" for cause in causes))
    head, bracket, listed = message.partition(": [")
    if len(causes) < 2:
        return status
    if bracket and all(part in listed for part in parts) and len(listed) == len(", ".join(parts)) + 1:
        message = f"{head}: [{', '.join(sorted(parts))}]"
    shown: list[Json] = [*sorted(causes, key=lambda cause: (str(cause.get("field")), str(cause.get("message"))))]
    return {**status, "message": message, "details": {**get_map(status, "details"), "causes": shown}}


def _entry_order(entry: Json) -> tuple[str, ...]:
    return tuple(str(get_str(entry, key)) for key in ("operation", "manager", "apiVersion", "subresource"))
