"""Server-side apply: merging a configuration, finding conflicts, dropping what is no longer applied.

Source: Kubernetes documentation, "Server-Side Apply", and the answers of a kube-apiserver 1.36.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from aim_api.tree import Json, JsonObject, get_list, get_map, get_str, leaves
from aim_rehearsal.apiserver.call import Call, WriteOptions
from aim_rehearsal.apiserver.decoding import DecodeError, decode_object
from aim_rehearsal.apiserver.errors import ApiError, bad_request, conflict, invalid, not_found, quoted
from aim_rehearsal.apiserver.field_paths import (
    Path,
    applied_fields,
    children,
    field_schema,
    is_atomic,
    item_element,
    prefixes,
    text_of,
)
from aim_rehearsal.apiserver.intake import check_names, complain, settle, strict_findings
from aim_rehearsal.apiserver.last_applied import KUBECTL, forgiven_fields, with_renewed_annotation
from aim_rehearsal.apiserver.managed_fields import (
    APPLY,
    NEVER_OWNED,
    UPDATE,
    FieldTracker,
    Owner,
    Ownership,
    read_ownership,
    with_ownership,
)
from aim_rehearsal.apiserver.metadata import MetadataTypeError
from aim_rehearsal.apiserver.times import now, parse_time, rfc3339
from aim_rehearsal.apiserver.trees import same_value
from aim_rehearsal.apiserver.typed_values import typed_problems
from aim_rehearsal.apiserver.writing import Writer

_JSON_READER = "error unmarshaling JSON: while decoding JSON: "
_BEFORE_FIRST = "before-first-apply"


@dataclass(frozen=True, slots=True)
class Applier:
    """Carries out apply patches."""

    writer: Writer

    def apply(self, call: Call, options: WriteOptions) -> tuple[JsonObject, bool]:
        """Apply the configuration in the body and return the object and whether it is new.

        Raises:
            ApiError: the configuration is refused, or conflicts with other managers and ``force`` is not set.
        """
        with self.writer.store as store:
            namespace = call.info.namespace if call.resource.namespaced else ""
            exists = store.get(call.resource.collection, namespace, call.info.name) is not None
            if not exists and call.info.subresource:
                raise not_found(call.resource.group, call.resource.plural, call.info.name)
            config = _configuration(call, options)

            def merged(live: JsonObject) -> JsonObject:
                return check_names(call, _Merge(call, options, live, config, now()).result(), name_required=True)

            if exists:
                return self.writer.change(call, merged, options, applied=True), False
            uid = get_str(config, "metadata", "uid")
            if uid:
                why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
                raise conflict(call.resource.group, call.resource.plural, call.info.name, why)
            return self.writer.create_object(call, merged({}), options, applied=True), True


def _configuration(call: Call, options: WriteOptions) -> JsonObject:
    """Return the applied object as it was sent."""
    try:
        value, repeated = decode_object(call.request.body, as_yaml=True)
    except DecodeError as error:
        text = str(error)
        reader = "error converting YAML to JSON: " if text.startswith("yaml: ") else _JSON_READER
        raise bad_request(f"error decoding YAML: {reader}{text}") from None
    if repeated and options.field_validation == "Strict":
        of_yaml = repeated[0].startswith("line ")
        head = "error converting YAML to JSON: " if of_yaml else "strict decoding error: "
        raise bad_request(f"error strict decoding YAML: {head}{', '.join(strict_findings(repeated))}")
    complain(call, options.field_validation, repeated)
    resource = call.resource
    wanted = resource.api_version(call.version.name)
    api_version, kind = get_str(value, "apiVersion") or "", get_str(value, "kind") or ""
    if api_version != wanted or kind != resource.kind:
        raise bad_request(f"invalid object type: {api_version or '/'}, Kind={kind}")
    if get_list(value, "metadata", "managedFields"):
        raise bad_request("metadata.managedFields must be nil")
    _check_types(call, value)
    return value


def _check_types(call: Call, value: JsonObject) -> None:
    problems = typed_problems(value, FieldTracker(call.resource, call.version, "").schema)
    if problems:
        listed = problems[0] if len(problems) == 1 else "errors:\n" + "\n".join(f"  {item}" for item in problems)
        where = f"{get_str(value, 'metadata', 'namespace') or ''}/{get_str(value, 'metadata', 'name') or ''}"
        kind = f"{call.resource.api_version(call.version.name)}, Kind={call.resource.kind}"
        raise ApiError(500, "", f"failed to create typed patch object ({where}; {kind}): {listed}")


@dataclass(frozen=True, slots=True)
class _Merge:
    call: Call
    options: WriteOptions
    live: JsonObject
    config: JsonObject
    moment: datetime

    @property
    def tracker(self) -> FieldTracker:
        return FieldTracker(self.call.resource, self.call.version, self.call.info.subresource)

    def result(self) -> JsonObject:
        """Return the merged object with its managedFields."""
        tracker = self.tracker
        schema = tracker.schema
        owner = Owner(self.options.field_manager, APPLY, tracker.api_version, self.call.info.subresource)
        ownership = read_ownership(self.live) or self._before_first_apply()
        last = next((item for item in ownership if item.owner.identity == owner.identity), None)
        others = [item for item in ownership if item.owner.identity != owner.identity]
        claimed = tracker.writable(applied_fields(self.config, schema)) - NEVER_OWNED
        live = _without_ownership(self.live)
        merged = merge_typed(live, self.config, schema)
        owned = prefixes(path for item in others for path in item.fields) | prefixes(claimed)
        dropped = (prefixes(last.fields) if last else set()) - owned
        merged = remove_fields(merged, _tops(dropped), schema)
        assert isinstance(merged, dict)  # an object merged with an object
        settled = self._settled(merged)
        kept = self._others_after(others, live, settled)
        unchanged = last.time if last is not None else ""
        moment = unchanged if same_value(live, settled) else rfc3339(self.moment)
        if self.options.field_manager == KUBECTL:
            settled = with_renewed_annotation(settled, self.config)
        return with_ownership(settled, [*kept, Ownership(owner, claimed, moment)])

    def _settled(self, merged: JsonObject) -> JsonObject:
        if any(value is None for _, value in leaves(self.config)):
            # Nulls in a configuration are no deletions: those without a default reach validation as they are.
            kept = without_defaulted_nulls(merged, self.tracker.schema)
            assert isinstance(kept, dict)  # an object stays one
            problems = self.call.version.structural.validate(kept)
            if problems:
                raise invalid(self.call.resource.group, self.call.resource.kind, self.call.info.name, problems)
        try:
            settled, unknown = settle(self.call, merged)
        except MetadataTypeError as error:
            raise bad_request(str(error)) from None
        refusal = complain(self.call, self.options.field_validation, unknown)
        if refusal is not None:
            raise bad_request(refusal)
        return settled

    def _others_after(self, others: Sequence[Ownership], live: JsonObject, merged: JsonObject) -> list[Ownership]:
        tracker = self.tracker
        difference = tracker.compare(live or tracker.zero, merged)
        seen = tracker.written(difference)
        changed = seen.added | seen.modified
        if not self.options.force:
            if self.options.field_manager == KUBECTL:
                changed -= forgiven_fields(live, self.call.resource.kind, tracker)
            clashes = [(item.owner, common) for item in others if (common := item.fields & changed)]
            if clashes:
                raise _conflicts(clashes)
        return [tracker.without_changed(item, difference) for item in others]

    def _before_first_apply(self) -> list[Ownership]:
        """An object that was never tracked belongs, as it is, to one manager of its own."""
        if not self.live:
            return []
        tracker = self.tracker
        fields = tracker.written(tracker.compare(tracker.zero, self.live)).added - NEVER_OWNED
        created = parse_time(get_str(self.live, "metadata", "creationTimestamp") or "") or self.moment
        return [Ownership(Owner(_BEFORE_FIRST, UPDATE, tracker.api_version, ""), fields, rfc3339(created))]


def _conflicts(clashes: Sequence[tuple[Owner, frozenset[Path]]]) -> ApiError:
    causes: list[JsonObject] = []
    groups: dict[str, list[str]] = {}
    for owner, fields in sorted(clashes, key=lambda clash: clash[0].manager):
        using = f"conflict with {quoted(owner.manager)}"
        if owner.subresource:
            using += f" with subresource {quoted(owner.subresource)}"
        if owner.operation == UPDATE:
            using += f" using {owner.api_version}"
        for path in sorted(fields, key=_leaves_first):
            causes.append({"reason": "FieldManagerConflict", "message": using, "field": text_of(path)})
            groups.setdefault(using, []).append(text_of(path))
    count = len(causes)
    if count == 1:
        text = f"Apply failed with 1 conflict: {causes[0]['message']}: {causes[0]['field']}"
    else:
        lines = [
            "\n- ".join([f"conflicts{using.removeprefix('conflict')}:", *fields]) for using, fields in groups.items()
        ]
        text = f"Apply failed with {count} conflicts: " + "\n".join(lines)
    listed: list[Json] = [*causes]
    return ApiError(409, "Conflict", text, {"causes": listed})


def _leaves_first(path: Path) -> list[tuple[bool, str]]:
    """Order paths as the server walks them: at each level what ends there comes before what goes on."""
    return [(depth < len(path), element) for depth, element in enumerate(path, start=1)]


def _without_ownership(value: JsonObject) -> JsonObject:
    if not value:
        return value
    metadata = {key: item for key, item in get_map(value, "metadata").items() if key != "managedFields"}
    return {**value, "metadata": metadata}


def without_defaulted_nulls(value: Json, schema: JsonObject) -> Json:
    """Return a value without the nulls that a default will replace."""
    if isinstance(value, dict):
        below = {key: (item, field_schema(schema, key)) for key, item in value.items()}
        return {
            key: without_defaulted_nulls(item, known)
            for key, (item, known) in below.items()
            if not (item is None and "default" in known and not known.get("nullable"))
        }
    if isinstance(value, list):
        return [without_defaulted_nulls(item, get_map(schema, "items")) for item in value]
    return value


def merge_typed(live: Json, config: Json, schema: JsonObject) -> Json:
    """Return a live value with an applied one merged over it, list items by their keys."""
    if is_atomic(config, schema) or type(live) is not type(config):
        return config
    if isinstance(config, dict) and isinstance(live, dict):
        merged = dict(live)
        for key, value in config.items():
            merged[key] = merge_typed(live[key], value, field_schema(schema, key)) if key in live else value
        return merged
    assert isinstance(config, list)  # the only other granular shape
    assert isinstance(live, list)
    return _merge_lists(live, config, schema)


def _merge_lists(live: list[Json], config: list[Json], schema: JsonObject) -> list[Json]:
    """Keep the order of the applied list; items of others stay before the applied item that followed them."""
    old = {item_element(item, schema): item for item in live}
    new = {item_element(item, schema): item for item in config}
    merged: list[Json] = []
    pending = list(new)
    for name, item in old.items():
        if name not in new:
            merged.append(item)
            continue
        while name in pending:
            first = pending.pop(0)
            below = get_map(schema, "items")
            merged.append(merge_typed(old[first], new[first], below) if first in old else new[first])
    return [*merged, *(new[name] for name in pending)]


def remove_fields(value: Json, paths: set[Path], schema: JsonObject) -> Json:
    """Return a value without the fields at ``paths``; the original is left as it is."""
    if not paths:
        return value
    below: dict[str, set[Path]] = {}
    for path in paths:
        below.setdefault(path[0], set()).add(path[1:])
    kept: list[tuple[str, Json]] = []
    for element, item, item_schema in children(value, schema):
        rest = below.get(element)
        if rest is None:
            kept.append((element, item))
        elif () not in rest:
            kept.append((element, remove_fields(item, rest, item_schema)))
    if isinstance(value, dict):
        return {element[2:]: item for element, item in kept}
    return [item for _, item in kept]


def _tops(paths: set[Path]) -> set[Path]:
    """Return the paths that lie below none of the others."""
    return {path for path in paths if not any(path[:length] in paths for length in range(1, len(path)))}
