"""Get and list."""

import base64
import binascii

import msgspec

from aim_api.tree import Json, JsonObject
from aim_rehearsal.apiserver.call import Call
from aim_rehearsal.apiserver.decoding import DecodeError, decode_json
from aim_rehearsal.apiserver.errors import ApiError, bad_request, expired, not_found
from aim_rehearsal.apiserver.list_options import list_options, unreadable_version
from aim_rehearsal.apiserver.messages import Response, json_response
from aim_rehearsal.apiserver.selectors import Selector, parse_selectors
from aim_rehearsal.apiserver.store import CompactedError, Store
from aim_rehearsal.apiserver.tables import Rendering, negotiate

_TOKEN_VERSION = "meta.k8s.io/v1"  # noqa: S105  (the version of continue tokens, no credential)
_CONTINUE_EXPIRED = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list."
)
_LATEST = -1
_INVALID_TOKEN = "invalid continue token: continue key is not valid"  # noqa: S105  (a message)


class _Token(msgspec.Struct, rename={"version": "v", "revision": "rv", "start": "start"}):
    version: str
    revision: int
    start: str


def rendering_of(call: Call) -> Rendering:
    """Return how a request wants its objects written."""
    return negotiate(
        call.request.headers.get("accept", ""), call.info.query.get("includeObject", ""), call.resource, call.version
    )


def selector_of(call: Call) -> Selector:
    """Return the selector in the query of a request."""
    return parse_selectors(call.info.query, call.version.selectable, custom=call.resource.custom)


def find(store: Store, call: Call) -> JsonObject:
    """Return the stored object that a request names.

    Raises:
        ApiError: there is no such object.
    """
    stored = store.get(
        call.resource.collection, call.info.namespace if call.resource.namespaced else "", call.info.name
    )
    if stored is None:
        raise not_found(call.resource.group, call.resource.plural, call.info.name)
    return stored


def get_object(store: Store, call: Call) -> Response:
    """Answer a GET of one object."""
    rendering = rendering_of(call)
    asked = call.info.query.get("resourceVersion", "")
    if asked and not (asked.isascii() and asked.isdigit()):
        raise ApiError(500, "", f"resourceVersion: {unreadable_version(asked)}")
    if int(asked or 0) > store.revision:
        raise _not_yet(int(asked), store.revision)
    return json_response(200, rendering.one(find(store, call)))


def list_objects(store: Store, call: Call) -> Response:
    """Answer a GET of a collection, in key order, a page at a time if asked.

    Raises:
        ApiError: the continue token is not ours or too old, or another parameter cannot be read.
    """
    options = list_options(call.info.query, watching=False)
    rendering, selector = rendering_of(call), selector_of(call)
    with store:
        revision, after = store.revision, ""
        if options.token:
            asked, after = _decode_token(options.token)
            revision = asked if asked > 0 else store.revision
        elif options.exact:
            revision = options.revision
        if max(options.revision, revision) > store.revision:
            raise _not_yet(max(options.revision, revision), store.revision)
        try:
            namespace = call.info.namespace if call.resource.namespaced else ""
            found = store.scan(call.resource.collection, namespace, after, revision)
        except CompactedError:
            raise _too_old(after) from None
    metadata: JsonObject = {"resourceVersion": str(revision)}
    if call.resource.custom:
        metadata = {"continue": "", **metadata}
    page: list[JsonObject] = []
    for position, (_, value) in enumerate(found):
        if options.limit and len(page) == options.limit:
            metadata["continue"] = _encode_token(revision, found[position - 1][0])
            if selector.selects_all:
                metadata["remainingItemCount"] = len(found) - position
            break
        if selector.matches(value):
            page.append(value)
    return json_response(200, rendering.many(page, metadata))


def _not_yet(asked: int, revision: int) -> ApiError:
    causes: list[Json] = [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]
    message = f"Too large resource version: {asked}, current: {revision}"
    return ApiError(504, "Timeout", f"Timeout: {message}", {"causes": causes, "retryAfterSeconds": 1}, retry_after=1)


def _too_old(after: str) -> ApiError:
    if not after:
        return expired("The resourceVersion for the provided list is too old.")
    return expired(_CONTINUE_EXPIRED, _encode_token(_LATEST, after))


def _encode_token(revision: int, key: str) -> str:
    token = _Token(_TOKEN_VERSION, revision, f"{key.lstrip('/')}\0")
    return base64.urlsafe_b64encode(msgspec.json.encode(token)).decode().rstrip("=")


def _decode_token(text: str) -> tuple[int, str]:
    """Return the revision of a continue token, negative for the latest, and the last key before its page."""
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), "-_", validate=True)
    except (binascii.Error, ValueError):
        at = next((index for index, letter in enumerate(text) if not (letter.isalnum() or letter in "-_")), 0)
        raise bad_request(f"{_INVALID_TOKEN}: illegal base64 data at input byte {at}") from None
    try:
        decoded, _ = decode_json(raw)
        token = msgspec.convert(decoded, _Token)
    except (DecodeError, msgspec.ValidationError) as error:
        raise bad_request(f"{_INVALID_TOKEN}: {error}") from None
    if token.version != _TOKEN_VERSION:
        raise bad_request(f"{_INVALID_TOKEN}: server does not recognize this encoded version {token.version}")
    if token.revision == 0:
        raise bad_request(f"{_INVALID_TOKEN}: incorrect encoded start resourceVersion (version {_TOKEN_VERSION})")
    if not token.start:
        raise bad_request(f"{_INVALID_TOKEN}: encoded start key empty (version {_TOKEN_VERSION})")
    if ".." in token.start.split("/"):
        raise bad_request(f"{_INVALID_TOKEN}: {token.start}")
    start = token.start.rstrip("\0")
    return token.revision, start if "/" in start else f"/{start}"
