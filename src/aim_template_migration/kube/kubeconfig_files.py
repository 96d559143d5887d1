"""Kubeconfig files as values: read and merged as kubectl merges them, of entries with one name the first counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from aim_api.tree import Json, JsonObject, get_map, get_str
from aim_template_migration.kube.errors import ConnectError


@dataclass(frozen=True, slots=True)
class Entry:
    """One named cluster, context or user, and the file it stands in, beside which relative paths begin."""

    content: JsonObject
    file: str


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    """The merged kubeconfig files; of entries with one name the first counts, as with kubectl.

    Attributes:
        files: the files that were read, in order.
        current_context: that of the first file that names one.
        contexts: by name.
        clusters: by name.
        users: by name.
    """

    files: tuple[str, ...]
    current_context: str | None
    contexts: dict[str, Entry]
    clusters: dict[str, Entry]
    users: dict[str, Entry]


def read_kubeconfig(files: Sequence[str]) -> Kubeconfig:
    """Read and merge kubeconfig files.

    Raises:
        ConnectError: a file cannot be read, is not YAML, is empty or is no kubeconfig; it names the file.
    """
    read: dict[str, JsonObject] = {}
    for file in files:
        content = _content(file)
        if isinstance(content, dict):
            read[file] = content
        elif content is not None:
            raise _no_kubeconfig(file)
        elif len(files) == 1:  # kubectl reads an empty file of several as one without entries
            raise ConnectError(f"the kubeconfig {file} is empty; name another with --kubeconfig, or write it anew")
    if not read:
        raise ConnectError(f"the kubeconfig files {', '.join(files)} are empty; write one anew")
    named = (get_str(content, "current-context") for content in read.values())
    return Kubeconfig(
        files=tuple(read),
        current_context=next((name for name in named if name), None),
        contexts=_entries(read, "contexts", "context"),
        clusters=_entries(read, "clusters", "cluster"),
        users=_entries(read, "users", "user"),
    )


def _content(file: str) -> Json:
    try:
        content: Json = yaml.load(Path(file).read_bytes(), Loader=yaml.CSafeLoader)
    except OSError as error:
        raise ConnectError(f"the kubeconfig {file} cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConnectError(f"the kubeconfig {file} is not YAML{_position(error)}; correct the file") from error
    return content


def _entries(read: Mapping[str, JsonObject], plural: str, singular: str) -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    for file, content in read.items():
        listed = content.get(plural) or []
        if not isinstance(listed, list):
            raise _no_kubeconfig(file)
        for item in listed:
            name = get_str(item, "name")
            if not name:
                raise _no_kubeconfig(file)
            entries.setdefault(name, Entry(get_map(item, singular), file))
    return entries


def _no_kubeconfig(file: str) -> ConnectError:
    return ConnectError(
        f"the kubeconfig {file} is no kubeconfig: it must be a map with lists of named clusters, contexts and users"
    )


def _position(error: Exception) -> str:
    """Say where a YAML error is; its own text can quote the file, which holds credentials."""
    mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
    return f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
