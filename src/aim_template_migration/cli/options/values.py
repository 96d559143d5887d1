"""Values on the command line: durations and counts as kubectl takes them, and names of namespaces."""

import argparse
import re
from pathlib import Path

from aim_template_migration.cli.failures import wrong_usage
from aim_template_migration.documents.deadlines import LONGEST_CUTOVER_DEADLINE_SECONDS

_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_DURATION = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?(?:h|ms|m|s))+")
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(h|ms|m|s)")
_NAMESPACE = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?")
_FLEET = re.compile(r"([1-9][0-9]{0,5})x([1-9][0-9]{0,5})")
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")


def duration(text: str) -> float:
    """Return a duration such as ``30s``, ``2m`` or ``1h30m``, or whole seconds, in seconds.

    Raises:
        argparse.ArgumentTypeError: it is neither.
    """
    if text.isascii() and text.isdecimal():
        return float(text)
    if not _DURATION.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no duration; write one like 30s, 2m or 1h30m")
    return sum(float(amount) * _UNITS[unit] for amount, unit in _PART.findall(text))


def duration_text(seconds: float) -> str:
    """Return seconds as a duration that ``duration`` reads again, to the millisecond."""
    return f"{seconds:.3f}".rstrip("0").rstrip(".") + "s"


def cutover_deadline(text: str) -> float:
    """Return a duration of at most ten minutes, in seconds.

    Raises:
        argparse.ArgumentTypeError: it is no duration, zero, or longer.
    """
    seconds = duration(text)
    if not 0 < seconds <= LONGEST_CUTOVER_DEADLINE_SECONDS:
        raise argparse.ArgumentTypeError(f"{text!r} is not between 1s and 10m, the longest that a cutover may take")
    return seconds


def positive(text: str) -> int:
    """Return a whole number of at least 1.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    if not (text.isascii() and text.isdecimal()) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least 1")
    return int(text)


def file_path(text: str) -> Path:
    """Return the path of a file.

    Raises:
        argparse.ArgumentTypeError: it can only be a directory.
    """
    path = Path(text)
    if path.name in ("", "..") or text.endswith("/"):
        raise argparse.ArgumentTypeError(f"{text!r} names no file; write the file's name, too")
    return path


def deployment_place(text: str) -> tuple[str, str]:
    """Return namespace and name from ``NAMESPACE/NAME``.

    Raises:
        argparse.ArgumentTypeError: it is no such pair of names.
    """
    namespace, _, name = text.partition("/")
    if not _NAMESPACE.fullmatch(namespace) or not _NAME.fullmatch(name):
        raise argparse.ArgumentTypeError(f"{text!r} names no Deployment; write NAMESPACE/NAME")
    return namespace, name


def whole(text: str) -> int:
    """Return a whole number.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    if not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number")
    return int(text)


def fleet_size(text: str) -> tuple[int, int]:
    """Return the numbers of namespaces and of services in each from ``50x20``.

    Raises:
        argparse.ArgumentTypeError: it is no such size.
    """
    found = _FLEET.fullmatch(text)
    if not found:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no fleet; write namespaces x services in each, for example 50x20"
        )
    return int(found[1]), int(found[2])


def sha256(text: str) -> str:
    """Return a SHA-256 in lower-case hex.

    Raises:
        argparse.ArgumentTypeError: it is no 64 hex digits.
    """
    if not _SHA256.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no SHA-256: it takes all 64 hexadecimal digits")
    return text.lower()


def explicit_namespaces(given: list[str] | None, *, every: bool) -> tuple[str, ...]:
    """Return the namespaces, each once, in the order given; only explicit names are taken (R, "Plan and review").

    Raises:
        CommandStopped: none is named, all are asked for, or a name is no name of a namespace.
    """
    hint = "repeat --namespace for each namespace: --namespace team-a --namespace team-b"
    if every or "*" in (given or ()):
        raise wrong_usage(
            "all namespaces at once can't be selected: name each namespace that is to be migrated", hint=hint
        )
    if not given:
        raise wrong_usage(
            "no namespace is named: the kubeconfig's default namespace is never used, so nothing is selected by chance",
            hint=hint,
        )
    for name in given:
        if not name:
            raise wrong_usage("--namespace is empty, which would not select one namespace but none or all", hint=hint)
        if not _NAMESPACE.fullmatch(name):
            raise wrong_usage(f"--namespace {name!r} is no name of one namespace", hint=hint)
    return tuple(dict.fromkeys(given))
