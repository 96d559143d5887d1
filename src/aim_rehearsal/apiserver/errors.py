"""Failures as Kubernetes Status objects, worded as kube-apiserver words them.

Source: Kubernetes API conventions ("Response Status Kind") and the answers of a kube-apiserver 1.36.
"""

from collections.abc import Iterable, Sequence

from aim_api.tree import Json, JsonObject
from aim_schema import FieldError

_ESCAPES = {
    "\\": "\\\\",
    '"': '\\"',
    "\n": "\\n",
    "\t": "\\t",
    "\r": "\\r",
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\v": "\\v",
}
MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


class ApiError(Exception):
    """A request that failed; ``status`` is the Status object that answers it."""

    def __init__(
        self, code: int, reason: str, message: str, details: JsonObject | None = None, retry_after: int | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details
        self.retry_after = retry_after
        self.continue_token = ""

    @property
    def status(self) -> JsonObject:
        """The ``Status`` object of the answer."""
        status: JsonObject = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {"continue": self.continue_token} if self.continue_token else {},
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            status["reason"] = self.reason
        if self.details is not None:
            status["details"] = self.details
        status["code"] = self.code
        return status


def qualified(group: str, name: str) -> str:
    """Return a resource or kind with its group, as messages name it: ``aimservices.aim.eai.amd.com``, ``pods``."""
    return f"{name}.{group}" if group else name


def quoted(text: str) -> str:
    """Return ``text`` in double quotes, escaped."""
    return '"' + "".join(_escaped(character) for character in text) + '"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable() or character == "\u00a0":
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def details(group: str, kind: str, name: str = "", causes: Sequence[JsonObject] = (), uid: str = "") -> JsonObject:
    """Return the ``details`` of a Status; empty parts are left out."""
    parts: dict[str, Json] = {"name": name, "group": group, "kind": kind, "uid": uid, "causes": list(causes)}
    return {key: value for key, value in parts.items() if value}


def not_found(group: str, resource: str, name: str) -> ApiError:
    """Return 404 for an absent object."""
    message = f"{qualified(group, resource)} {quoted(name)} not found"
    return ApiError(404, "NotFound", message, details(group, resource, name))


def no_such_resource() -> ApiError:
    """Return 404 for a path below a built-in group that is no resource."""
    return ApiError(404, "NotFound", "the server could not find the requested resource", {})


def no_such_method() -> ApiError:
    """Return 405 for a method that a path of a built-in resource lacks."""
    return ApiError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {})


def already_exists(group: str, resource: str, name: str, *, deleting: bool = False) -> ApiError:
    """Return 409 for a name that is taken, maybe by an object that is on its way out."""
    message = f"{qualified(group, resource)} {quoted(name)} already exists"
    if deleting:
        message = f"object is being deleted: {message}"
    return ApiError(409, "AlreadyExists", message, details(group, resource, name))


def conflict(group: str, resource: str, name: str, why: str = MODIFIED) -> ApiError:
    """Return 409 for a write against another state of the object."""
    message = f"Operation cannot be fulfilled on {qualified(group, resource)} {quoted(name)}: {why}"
    return ApiError(409, "Conflict", message, details(group, resource, name))


def invalid(group: str, kind: str, name: str, problems: Iterable[FieldError]) -> ApiError:
    """Return 422 with one cause per problem; a problem that is reported twice is named once in the message."""
    found = list(problems)
    lines = list(dict.fromkeys(f"{problem.field}: {problem.message}" for problem in found))
    text = lines[0] if len(lines) == 1 else "[" + ", ".join(lines) + "]"
    causes: list[JsonObject] = [
        {"reason": problem.reason, "message": problem.message, "field": problem.field} for problem in found
    ]
    message = f"{qualified(group, kind) if kind or not group else f'.{group}'} {quoted(name)} is invalid: {text}"
    return ApiError(422, "Invalid", message, details(group, kind, name, causes))


def bad_request(message: str) -> ApiError:
    """Return 400."""
    return ApiError(400, "BadRequest", message)


def forbidden(group: str, resource: str, name: str, why: str, causes: Sequence[JsonObject] = ()) -> ApiError:
    """Return 403 for an object or, without a name, for a collection."""
    subject = qualified(group, resource) + (f" {quoted(name)}" if name else "")
    return ApiError(403, "Forbidden", f"{subject} is forbidden: {why}", details(group, resource, name, causes))


def unauthorized() -> ApiError:
    """Return 401 for credentials that are not known."""
    return ApiError(401, "Unauthorized", "Unauthorized")


def method_not_allowed(group: str, resource: str, action: str) -> ApiError:
    """Return 405 for a verb that a resource lacks."""
    message = f'{action} is not supported on resources of kind "{qualified(group, resource)}"'
    return ApiError(405, "MethodNotAllowed", message, details(group, resource))


def not_acceptable(accepted: Sequence[str]) -> ApiError:
    """Return 406 for an Accept header that names nothing we can write."""
    message = f"only the following media types are accepted: {', '.join(accepted)}"
    return ApiError(406, "NotAcceptable", message)


def unsupported_media_type(accepted: Sequence[str]) -> ApiError:
    """Return 415 for a body of another format."""
    message = "the body of the request was in an unknown format - accepted media types include: " + ", ".join(accepted)
    return ApiError(415, "UnsupportedMediaType", message)


def expired(message: str, continue_token: str = "") -> ApiError:
    """Return 410 for a resourceVersion or continue token that history no longer covers.

    Args:
        message: what is gone.
        continue_token: the token with which a list may go on regardless, or empty.
    """
    error = ApiError(410, "Expired", message)
    error.continue_token = continue_token
    return error


def too_large(limit: int) -> ApiError:
    """Return 413 for a body over ``limit`` bytes."""
    return ApiError(413, "RequestEntityTooLarge", f"Request entity too large: limit is {limit}")


def unprocessable() -> ApiError:
    """Return the 422 that answers a patch which cannot be carried out; the real server does not say why."""
    return ApiError(422, "Invalid", "the server rejected our request due to an error in our request", {})


def internal(message: str) -> ApiError:
    """Return 500."""
    return ApiError(500, "InternalError", f"Internal error occurred: {message}", {"causes": [{"message": message}]})


def too_large_patch(limit: int, operations: int) -> ApiError:
    """Return 413 for a JSON patch of too many operations."""
    what = f"The allowed maximum operations in a JSON patch is {limit}, got {operations}"
    return ApiError(413, "RequestEntityTooLarge", f"Request entity too large: {what}")
