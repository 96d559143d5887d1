"""One authenticated request with everything that handlers need to know about it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from aim_rehearsal.apiserver.errors import bad_request, invalid, quoted
from aim_rehearsal.apiserver.messages import Request
from aim_rehearsal.apiserver.resources import Resource, ServedVersion
from aim_rehearsal.apiserver.routing import RequestInfo
from aim_schema import FieldError

_MANAGER_LIMIT = 128
_META_GROUP = "meta.k8s.io"


@dataclass(frozen=True, slots=True)
class User:
    """Who sends a request.

    Attributes:
        name: the user name.
        groups: the groups, ``system:authenticated`` included.
        uid: the user's UID.
        extra: further attributes.
    """

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """The options of a write.

    Attributes:
        dry_run: whether nothing is stored.
        field_manager: the name that managedFields records.
        field_validation: ``Strict``, ``Warn`` or ``Ignore``.
        force: whether a server-side apply takes over fields of others.
    """

    dry_run: bool
    field_manager: str
    field_validation: str
    force: bool


@dataclass(slots=True)
class Call:
    """A request for a resource.

    Attributes:
        request: the HTTP request.
        info: what its path means.
        user: who sends it.
        resource: the resource it addresses.
        version: the version it addresses.
        warnings: texts of the Warning headers of the answer.
    """

    request: Request
    info: RequestInfo
    user: User
    resource: Resource
    version: ServedVersion
    warnings: list[str] = field(default_factory=list)

    def warn(self, text: str) -> None:
        """Add a Warning header, once per text."""
        if text not in self.warnings:
            self.warnings.append(text)

    @property
    def content_type(self) -> str:
        """The media type of the body, without parameters."""
        return self.request.headers.get("content-type", "").partition(";")[0].strip().lower()


def write_options(call: Call, kind: str, *, applying: bool = False) -> WriteOptions:
    """Return the options in the query of a write.

    Args:
        call: the request.
        kind: the options' kind, which messages name: ``CreateOptions``, ``PatchOptions``, …
        applying: whether the request is a server-side apply.

    Raises:
        ApiError: an option has a value that the API does not know.
    """
    query = call.info.query
    problems: list[FieldError] = []
    dry_run = query.get("dryRun", "")
    if dry_run not in ("", "All"):
        problems.append(_unsupported("dryRun", f"[{quoted(dry_run)}]", '"All"'))
    validation = query.get("fieldValidation", "")
    if validation not in ("", "Strict", "Warn", "Ignore"):
        problems.append(_unsupported("fieldValidation", quoted(validation), '"", "Ignore", "Strict", "Warn"'))
    manager = query.get("fieldManager", "")
    if len(manager) > _MANAGER_LIMIT:
        problems.append(
            FieldError("FieldValueTooLong", "fieldManager", f"Too long: may not be more than {_MANAGER_LIMIT} bytes")
        )
    for position, character in enumerate(manager):
        if not character.isprintable():
            why = f"invalid character U+{ord(character):04X} (at position {position})"
            problems.append(FieldError("FieldValueInvalid", "fieldManager", f"Invalid value: {quoted(manager)}: {why}"))
    if applying and not manager:
        problems.append(FieldError("FieldValueRequired", "fieldManager", "Required value: is required for apply patch"))
    if "force" in query and kind == "PatchOptions" and not applying:
        problems.append(
            FieldError("FieldValueForbidden", "force", "Forbidden: may not be specified for non-apply patch")
        )
    if problems:
        raise invalid(_META_GROUP, kind, "", problems)
    return WriteOptions(
        dry_run=dry_run == "All",
        field_manager=manager or user_agent_manager(call.request.headers.get("user-agent", "")),
        field_validation=validation or "Warn",
        force=_boolean(query, "force"),
    )


def user_agent_manager(user_agent: str) -> str:
    """Return the field manager of a request that names none: the user agent up to its first slash."""
    head = user_agent.split("/", 1)[0][:_MANAGER_LIMIT]
    return re.sub(r"[^ -~]", "", head) or "unknown"


def _boolean(query: Mapping[str, str], name: str) -> bool:
    text = query.get(name, "").lower()
    if text not in ("", "0", "1", "true", "false", "t", "f"):
        raise bad_request(f"strconv.ParseBool: parsing {quoted(text)}: invalid syntax")
    return text in ("1", "true", "t")


def _unsupported(name: str, value: str, supported: str) -> FieldError:
    return FieldError("FieldValueNotSupported", name, f"Unsupported value: {value}: supported values: {supported}")
