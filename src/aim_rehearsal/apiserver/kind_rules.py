"""What the API server refuses in built-in kinds beyond wrong types: bad keys, missing parts, changes of fixed fields.

Source: Kubernetes API reference and the answers of a kube-apiserver 1.36; only rules that a rehearsal can meet.
"""

import re
from collections.abc import Callable, Iterator

from aim_api.tree import Json, JsonObject, get, get_bool, get_list, get_map, get_objects, get_str, get_strings
from aim_rehearsal.apiserver.crds import check_crd, check_crd_change
from aim_rehearsal.apiserver.errors import quoted
from aim_rehearsal.apiserver.messages import encode_sorted
from aim_rehearsal.apiserver.resources import Resource
from aim_rehearsal.apiserver.trees import same_value
from aim_schema import FieldError

_KEY_TEXT = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or "
    "'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
)
_CLAIM_TEXT = (
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
)
_POD_TEXT = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
_ROLE_KINDS = ("Role", "ClusterRole")
_SELECTING = frozenset({"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"})
_IMMUTABLE: dict[str, tuple[tuple[str, ...], ...]] = {
    "Deployment": (("spec", "selector"),),
    "ReplicaSet": (("spec", "selector"),),
    "Job": (("spec", "selector"), ("spec", "template")),
    "StorageClass": (("provisioner",), ("parameters",), ("reclaimPolicy",), ("volumeBindingMode",)),
    "Secret": (("type",),),
}
Check = Callable[[JsonObject, JsonObject | None], Iterator[FieldError]]


def check_kind(resource: Resource, new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    """Return what a built-in kind's own rules find wrong with an object, or with its update from ``old``."""
    if resource.custom:
        return []
    check = _CHECKS.get(resource.kind)
    problems = list(check(new, old)) if check is not None else []
    if old is not None:
        problems += [
            _immutable(path, get(new, *path))
            for path in _IMMUTABLE.get(resource.kind, ())
            if not same_value(get(new, *path), get(old, *path))
        ]
    if resource.kind in _SELECTING:
        problems += _check_selector(new)
    return problems


def _immutable(path: tuple[str, ...], value: Json) -> FieldError:
    why = f"Invalid value: {encode_sorted(value).decode()}: field is immutable"
    return FieldError("FieldValueInvalid", ".".join(path), why)


def _check_data(new: JsonObject, old: JsonObject | None) -> Iterator[FieldError]:
    for field in ("data", "binaryData"):
        for key in get_map(new, field):
            if not re.fullmatch(r"[-._a-zA-Z0-9]+", key):
                why = f"Invalid value: {quoted(key)}: {_KEY_TEXT}"
                yield FieldError("FieldValueInvalid", f"{field}[{key}]", why)
    if old is None or not get_bool(old, "immutable"):
        return
    if not get_bool(new, "immutable"):
        why = "Forbidden: field is immutable when `immutable` is set"
        yield FieldError("FieldValueForbidden", "immutable", why)
    for field in ("data", "binaryData"):
        if not same_value(get(new, field), get(old, field)):
            why = "Forbidden: field is immutable when `immutable` is set"
            yield FieldError("FieldValueForbidden", field, why)


def _check_definition(new: JsonObject, old: JsonObject | None) -> Iterator[FieldError]:
    forbidden = check_crd_change(new, old) if old is not None else []
    yield from forbidden or check_crd(new)


def _check_claim(new: JsonObject, old: JsonObject | None) -> Iterator[FieldError]:
    if not get_list(new, "spec", "accessModes"):
        why = "Required value: at least 1 access mode is required"
        yield FieldError("FieldValueRequired", "spec.accessModes", why)
    if get(new, "spec", "resources", "requests", "storage") is None:
        yield FieldError("FieldValueRequired", "spec.resources[storage]", "Required value")
    free = {"volumeName"} if old is not None and get_str(old, "spec", "volumeName") is None else set()
    free |= {"resources", "volumeAttributesClassName"}
    if old is not None and not same_value(_without(get_map(new, "spec"), free), _without(get_map(old, "spec"), free)):
        yield FieldError("FieldValueForbidden", "spec", f"Forbidden: {_CLAIM_TEXT}")


def _check_pod(new: JsonObject, old: JsonObject | None) -> Iterator[FieldError]:
    if not get_list(new, "spec", "containers"):
        yield FieldError("FieldValueRequired", "spec.containers", "Required value")
    if old is not None and not same_value(_fixed_pod_part(new), _fixed_pod_part(old)):
        yield FieldError("FieldValueForbidden", "spec", f"Forbidden: {_POD_TEXT}")


def _fixed_pod_part(pod: JsonObject) -> JsonObject:
    spec = _without(
        get_map(pod, "spec"), {"activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds", "nodeName"}
    )
    for key in ("containers", "initContainers"):
        items: list[Json] = [
            _without(item, {"image"}) if isinstance(item, dict) else item for item in get_list(spec, key)
        ]
        spec[key] = items
    return spec


def _check_selector(new: JsonObject) -> list[FieldError]:
    wanted, labels = (
        get_strings(new, "spec", "selector", "matchLabels"),
        get_strings(new, "spec", "template", "metadata", "labels"),
    )
    if wanted.items() <= labels.items():
        return []
    shown: JsonObject = {**labels}
    why = f"Invalid value: {encode_sorted(shown).decode()}: `selector` does not match template `labels`"
    return [FieldError("FieldValueInvalid", "spec.template.metadata.labels", why)]


def _check_role(new: JsonObject, _old: JsonObject | None) -> Iterator[FieldError]:
    for index, rule in enumerate(get_objects(new, "rules")):
        path = f"rules[{index}]"
        if not get_list(rule, "verbs"):
            yield _required(f"{path}.verbs", "verbs must contain at least one value")
        if get_list(rule, "nonResourceURLs"):
            continue
        if not get_list(rule, "apiGroups"):
            yield _required(f"{path}.apiGroups", "resource rules must supply at least one api group")
        if not get_list(rule, "resources"):
            yield _required(f"{path}.resources", "resource rules must supply at least one resource")


def _check_binding(new: JsonObject, old: JsonObject | None) -> Iterator[FieldError]:
    role = get_map(new, "roleRef")
    if get_str(role, "kind") not in _ROLE_KINDS:
        known = ", ".join(quoted(kind) for kind in _ROLE_KINDS)
        why = f"Unsupported value: {quoted(get_str(role, 'kind') or '')}: supported values: {known}"
        yield FieldError("FieldValueNotSupported", "roleRef.kind", why)
    if not get_str(role, "name"):
        yield _required("roleRef.name")
    if old is not None and not same_value(role, get_map(old, "roleRef")):
        shown: JsonObject = {key[0].upper() + key[1:]: item for key, item in role.items()}
        shown["APIGroup"] = shown.pop("ApiGroup", "")
        why = f"Invalid value: {encode_sorted(shown).decode()}: cannot change roleRef"
        yield FieldError("FieldValueInvalid", "roleRef", why)


def _required(field: str, why: str = "") -> FieldError:
    return FieldError("FieldValueRequired", field, f"Required value: {why}" if why else "Required value")


def _without(value: JsonObject, keys: set[str]) -> JsonObject:
    return {key: item for key, item in value.items() if key not in keys}


_CHECKS: dict[str, Check] = {
    "ConfigMap": _check_data,
    "Secret": _check_data,
    "CustomResourceDefinition": _check_definition,
    "PersistentVolumeClaim": _check_claim,
    "Pod": _check_pod,
    "Role": _check_role,
    "ClusterRole": _check_role,
    "RoleBinding": _check_binding,
    "ClusterRoleBinding": _check_binding,
}
