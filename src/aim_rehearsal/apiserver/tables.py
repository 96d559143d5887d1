"""The forms in which objects leave the server: whole, as Table rows, or as their metadata alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from aim_api.tree import Json, JsonObject, get_map
from aim_rehearsal.apiserver.columns import DEFAULT_COLUMNS
from aim_rehearsal.apiserver.errors import ApiError, bad_request, not_acceptable, quoted
from aim_rehearsal.apiserver.resources import Column, Resource, ServedVersion

_ACCEPTED = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
_ANY_JSON = frozenset({"application/json", "application/*", "*/*", ""})
_YAML = "application/yaml"


class Form(Enum):
    """How the client wants objects."""

    WHOLE = "whole"
    TABLE = "table"
    METADATA = "metadata"
    METADATA_LIST = "list of metadata"


@dataclass(frozen=True, slots=True)
class Rendering:
    """How one request wants its objects written.

    Attributes:
        form: the form.
        meta_version: the version of Table or PartialObjectMetadata.
        include: what Table rows carry beside the cells: ``Metadata``, ``Object`` or ``None``.
        resource: the resource of the objects.
        version: the version at which the objects are shown.
    """

    form: Form
    meta_version: str
    include: str
    resource: Resource
    version: ServedVersion

    def one(self, stored: JsonObject) -> JsonObject:
        """Return one stored object in the wanted form.

        Raises:
            ApiError: a list is wanted.
        """
        shown = self.resource.present(stored, self.version.name)
        if self.form is Form.TABLE:
            metadata = get_map(shown, "metadata")
            return self._table([shown], {"resourceVersion": metadata.get("resourceVersion", "")})
        if self.form is Form.METADATA_LIST:
            raise ApiError(500, "", "content is not a list")
        return self._metadata(shown) if self.form is Form.METADATA else shown

    def many(self, stored: Sequence[JsonObject], list_metadata: JsonObject) -> JsonObject:
        """Return a list of stored objects in the wanted form.

        Raises:
            ApiError: one object is wanted.
        """
        shown = [self.resource.present(item, self.version.name) for item in stored]
        metadata = {key: value for key, value in list_metadata.items() if value != ""}
        if self.form is Form.TABLE:
            return self._table(shown, metadata)
        api_version = self.resource.api_version(self.version.name)
        kind = self.resource.list_kind
        if self.form is Form.METADATA:
            what = f"{self.resource.kind}List"
            raise ApiError(
                406,
                "NotAcceptable",
                f"you requested PartialObjectMetadata, but the requested object is a list ({what})",
            )
        if self.form is Form.METADATA_LIST:
            shown = [self._metadata(item) for item in shown]
            list_metadata = metadata
            api_version, kind = f"meta.k8s.io/{self.meta_version}", "PartialObjectMetadataList"
        if not self.resource.custom and self.form is Form.WHOLE:
            shown = [{key: value for key, value in item.items() if key not in ("apiVersion", "kind")} for item in shown]
        items: list[Json] = [*shown]
        return {"kind": kind, "apiVersion": api_version, "metadata": list_metadata, "items": items}

    def _table(self, shown: Sequence[JsonObject], metadata: JsonObject) -> JsonObject:
        columns = self.version.columns or DEFAULT_COLUMNS
        rows: list[Json] = [self._row(columns, item) for item in shown]
        definitions: list[Json] = [_definition(column) for column in columns]
        return {
            "kind": "Table",
            "apiVersion": f"meta.k8s.io/{self.meta_version}",
            "metadata": metadata,
            "columnDefinitions": definitions,
            "rows": rows,
        }

    def _row(self, columns: Sequence[Column], shown: JsonObject) -> JsonObject:
        row: JsonObject = {"cells": [column.cell(shown) for column in columns]}
        if self.include == "Object":
            row["object"] = shown
        else:
            row["object"] = self._metadata(shown) if self.include == "Metadata" else None
        return row

    def _metadata(self, shown: JsonObject) -> JsonObject:
        return {
            "kind": "PartialObjectMetadata",
            "apiVersion": f"meta.k8s.io/{self.meta_version}",
            "metadata": get_map(shown, "metadata"),
        }


def negotiate(accept: str, include: str, resource: Resource, version: ServedVersion) -> Rendering:
    """Return the rendering that an Accept header asks for: the first alternative that can be served.

    Args:
        accept: the Accept header.
        include: the ``includeObject`` parameter.
        resource: the resource of the objects.
        version: the version at which the objects are shown.

    Raises:
        ApiError: nothing in the header can be served, or ``includeObject`` is not known.
    """
    if include not in ("", "Metadata", "Object", "None"):
        why = f"includeObject: Invalid value: {quoted(include)}: must be 'Metadata', 'Object', 'None', or empty"
        raise bad_request(f"Unable to convert to Table as requested: {why}")
    for alternative in accept.split(","):
        media_type, *pairs = (part.strip() for part in alternative.split(";"))
        if media_type not in _ANY_JSON and media_type != _YAML:
            continue
        parameters = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
        form = _form(parameters)
        if form is not None:
            return Rendering(form, parameters.get("v", "v1"), include or "Metadata", resource, version)
    raise not_acceptable(_ACCEPTED)


def wants_yaml(accept: str) -> bool:
    """Return whether the first alternative of an Accept header that can be served is YAML.

    Raises:
        ApiError: nothing in the header can be served.
    """
    for alternative in accept.split(","):
        media_type = alternative.split(";")[0].strip()
        if media_type in _ANY_JSON or media_type == _YAML:
            return media_type == _YAML
    raise not_acceptable(_ACCEPTED)


def _form(parameters: dict[str, str]) -> Form | None:
    wanted = parameters.get("as")
    if wanted is None:
        return Form.WHOLE
    if parameters.get("g") != "meta.k8s.io" or parameters.get("v") not in ("v1", "v1beta1"):
        return None
    forms = {
        "Table": Form.TABLE,
        "PartialObjectMetadata": Form.METADATA,
        "PartialObjectMetadataList": Form.METADATA_LIST,
    }
    return forms.get(wanted)


def _definition(column: Column) -> JsonObject:
    return {
        "name": column.name,
        "type": column.kind,
        "format": column.format,
        "description": column.description,
        "priority": column.priority,
    }
