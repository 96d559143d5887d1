"""Plays a script on one server and keeps its normalised answers."""

import json
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import Empty, Queue

import yaml
from urllib3.exceptions import HTTPError

from aim_api.kinds import AIM_KINDS, KSERVE_KINDS
from aim_api.tree import Json, JsonObject
from tests.conformance.comparing import resolve
from tests.conformance.normalising import Normaliser
from tests.conformance.script import Script, Step
from tests.support.controlplane.client import Answer, Client, UnexpectedAnswerError

ClientOf = Callable[[str | None], Client]
HEADERS = ("Content-Type", "Warning", "Retry-After")
UNDEFINED = "<undefined>"
_REFERENCE = re.compile(r"\$\{([^{}]+)\}")
_PATIENCE = 40.0
_POLL = 0.05
_EVENT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Played:
    """What became of one step: the request as sent and the normalised answer."""

    step: Step
    request: str
    answer: JsonObject
    only: tuple[str, ...] = ()


class ScriptError(AssertionError):
    """The real server does not do what the script says."""


@dataclass(slots=True)
class Player:
    """Plays scripts on one server.

    Attributes:
        client_of: gives the client of an identity.
        values: what ``${name}`` stands for.
        forget: makes the server forget its history.
        must_agree: whether the answers must be those that the script expects.
    """

    client_of: ClientOf
    values: dict[str, Json]
    forget: Callable[[], object]
    must_agree: bool = False
    _normaliser: Normaliser = field(default_factory=Normaliser)
    _watches: dict[str, "_OpenWatch"] = field(default_factory=dict)

    def play(self, script: Script) -> list[Played]:
        """Send every request of a script, in order, and return the answers."""
        self.values |= script.values
        try:
            return [self._checked(self._play(step)) for step in script.steps]
        finally:
            for path in script.cleanup:
                self.client_of("admin").delete(str(self.filled(path)))

    def _checked(self, played: Played) -> Played:
        if self.must_agree:
            check_expectations(played)
        return played

    def _play(self, step: Step) -> Played:
        if step.reads is not None:
            answer = self._watches[step.reads].take(step.events or 1)
            return self._kept(step, f"(the watch {step.reads})", answer)
        if step.forgets:
            self.forget()
            return Played(step, "(history forgotten)", {})
        method, path = step.method, str(self.filled(step.path))
        if step.opens is not None:
            self._watches[step.opens] = _OpenWatch(self.client_of(step.identity), path)
            return Played(step, f"{method} {path}", {})
        if step.events is not None:
            watch = _OpenWatch(self.client_of(step.identity), path, self._headers(step))
            return self._kept(step, f"{method} {path}", watch.take(step.events))
        answer = self._sent(step, method, path)
        deadline = time.monotonic() + _PATIENCE
        while step.until and not _holds(answer, step.until) and time.monotonic() < deadline:
            time.sleep(_POLL)
            answer = self._sent(step, method, path)
        return self._kept(step, f"{method} {path}", answer)

    def _headers(self, step: Step) -> dict[str, str]:
        return {key: str(self.filled(value)) for key, value in step.headers.items()}

    def _sent(self, step: Step, method: str, path: str) -> JsonObject:
        body = self.filled(step.body) if step.raw is None else str(self.filled(step.raw)).encode()
        client = self.client_of(step.identity)
        answer = client.request(method, path, body, content_type=step.media_type, headers=self._headers(step))
        headers: JsonObject = {name: answer.headers[name] for name in HEADERS if name in answer.headers}
        return {"status": answer.status, "headers": headers, "body": _decoded(answer)}

    def _kept(self, step: Step, request: str, answer: JsonObject) -> Played:
        for name, pointer in step.save.items():
            self.values[name] = resolve(answer.get("body"), pointer, UNDEFINED)
        kept = dict(answer)
        kept["body"] = self._normaliser.normalised(answer.get("body"), step.name, step.normalise)
        kept["headers"] = self._normaliser.normalised(answer.get("headers"), step.name)
        return Played(step, request, kept, tuple(str(self.filled(pointer)) for pointer in step.only))

    def filled(self, value: Json) -> Json:
        """Return a value with every ``${name}`` replaced; a text that is nothing else becomes the value itself."""
        if isinstance(value, dict):
            return {str(self.filled(key)): self.filled(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.filled(item) for item in value]
        if not isinstance(value, str):
            return value
        whole = _REFERENCE.fullmatch(value)
        if whole is not None:
            return self._named(whole[1])
        return _REFERENCE.sub(lambda match: _text(self._named(match[1])), value)

    def _named(self, name: str) -> Json:
        if name.startswith("repeat:"):
            _, text, count = name.split(":")
            return text * int(count)
        return self.filled(self.values.get(name, UNDEFINED))


def kind_paths() -> dict[str, Json]:
    """Return the collection of each kind of the project under its name, and at a version as in ``Kind@v1alpha1``."""
    paths: dict[str, Json] = {}
    for kind in (*AIM_KINDS, *KSERVE_KINDS):
        paths[kind.name] = kind.path("${namespace}")
        for version in ("v1alpha1", "v1alpha2"):
            paths[f"{kind.name}@{version}"] = kind.at(version).path("${namespace}")
    return paths


def check_expectations(played: Played) -> None:
    """Fail if the real server did not answer as a script says that it does.

    Raises:
        ScriptError: the status code is another, or what was waited for or is to be compared is not there.
    """
    step, answer = played.step, played.answer
    where = f"{step.name}: {played.request}"
    if step.expect is not None and answer.get("status") != step.expect:
        shown = json.dumps(answer, indent=1)[:3000]
        raise ScriptError(f"{where}: expected {step.expect} of the real server, got {shown}")
    absent = [pointer for pointer in played.only if resolve(answer.get("body"), pointer, UNDEFINED) == UNDEFINED]
    if absent:
        raise ScriptError(f"{where}: no {' and no '.join(absent)}")
    if not _holds(answer, step.until):
        raise ScriptError(f"{where}: never {step.until}")


def _holds(answer: JsonObject, until: JsonObject) -> bool:
    if "status" in until and answer.get("status") != until["status"]:
        return False
    pointers = {key: value for key, value in until.items() if key.startswith("/")}
    return all(resolve(answer.get("body"), pointer, UNDEFINED) == value for pointer, value in pointers.items())


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _decoded(answer: Answer) -> Json:
    """Return the body: JSON decoded, several lines of JSON as a list, YAML with texts alone, all else as text."""
    text = answer.content.decode(errors="replace")
    media_type = answer.headers.get("Content-Type", "").partition(";")[0]
    if media_type == "application/yaml":
        parsed: Json = yaml.load(text, Loader=yaml.CBaseLoader)
        return parsed
    if media_type != "application/json":
        return text
    for parts in ([text], [line for line in text.splitlines() if line]):
        try:
            values: list[Json] = [json.loads(part) for part in parts]
        except ValueError:
            continue
        return values[0] if len(values) == 1 else values
    return text


class _OpenWatch:
    """A watch that is read by a thread of its own."""

    def __init__(self, client: Client, path: str, headers: dict[str, str] | None = None) -> None:
        self._events: Queue[Json] = Queue()
        target = path if "timeoutSeconds" in path else f"{path}&timeoutSeconds=15"
        threading.Thread(target=self._read, args=(client, target, headers), daemon=True).start()

    def _read(self, client: Client, path: str, headers: dict[str, str] | None) -> None:
        try:
            with client.stream(path, headers=headers) as events:
                for event in events:
                    self._events.put(event)
            self._events.put("<end>")
        except (UnexpectedAnswerError, HTTPError) as error:
            self._events.put(f"<failed: {error}>")

    def take(self, count: int) -> JsonObject:
        """Return the next events as an answer."""
        found: list[Json] = []
        deadline = time.monotonic() + _EVENT_SECONDS
        while len(found) < count:
            try:
                event = self._events.get(timeout=max(deadline - time.monotonic(), 0))
            except Empty:
                event = "<nothing more came>"
            found.append(event)
            if isinstance(event, str):
                break
        return {"status": 200, "headers": {}, "body": found}
