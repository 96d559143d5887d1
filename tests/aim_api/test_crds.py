"""The definitions as data: what they say about kinds, and that versions, rules and cases agree."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from aim_api.crds import crd_names, load_crd, load_crds
from aim_api.kinds import AIM_GROUP, AIM_KINDS, DUAL_VERSION_KINDS, KSERVE_KINDS, Kind
from aim_api.tree import Json, JsonObject, get, get_list, get_map, get_objects, get_str, has
from tests.aim_api.crd_cases import KINDS, TRAPS, RuleCase, examples, rule_cases
from tools.crds.emit import FOLDER, texts

CRDS = {KINDS[get_str(crd, "spec", "names", "kind") or ""]: crd for crd in load_crds()}
CASES = rule_cases()


def versions(kind: Kind) -> dict[str, JsonObject]:
    return {get_str(version, "name") or "": version for version in get_objects(CRDS[kind], "spec", "versions")}


def schema(kind: Kind, version: str) -> JsonObject:
    return get_map(versions(kind)[version], "schema", "openAPIV3Schema")


ALL_SCHEMAS = [(kind, version) for kind in CRDS for version in versions(kind)]


def nodes(node: JsonObject, path: str = "") -> Iterator[tuple[str, JsonObject]]:
    """Yield every schema below ``node``, with its path."""
    yield path, node
    for name, child in get_map(node, "properties").items():
        yield from nodes(get_map(child), f"{path}.{name}")
    for key, suffix in (("items", "[]"), ("additionalProperties", "{}")):
        if has(node, key):
            yield from nodes(get_map(node, key), path + suffix)


def rules(node: JsonObject) -> list[JsonObject]:
    return get_objects(node, "x-kubernetes-validations")


# The files


def test_the_files_are_what_the_source_composes() -> None:
    composed = texts()
    assert set(FOLDER.glob("*.yaml")) == set(composed)
    changed = [path.name for path, text in composed.items() if path.read_text() != text]
    assert not changed, "run python -m tools.crds"


def test_every_kind_is_defined_by_its_own_name_and_scope() -> None:
    assert tuple(CRDS) == (*AIM_KINDS, *KSERVE_KINDS)
    assert crd_names() == tuple(get_str(crd, "metadata", "name") for crd in CRDS.values())
    for kind, crd in CRDS.items():
        assert get_str(crd, "metadata", "name") == f"{kind.plural}.{kind.group}"
        assert get_str(crd, "spec", "group") == kind.group
        assert get_str(crd, "spec", "scope") == ("Namespaced" if kind.namespaced else "Cluster")
        assert get(crd, "spec", "names", "listKind") == f"{kind.name}List"
        assert get(crd, "spec", "conversion") == {"strategy": "None"}


def test_each_load_is_new() -> None:
    first, second = load_crds(), load_crds()
    assert first == second
    assert first is not second
    assert first[0] is not second[0]


def test_a_single_definition_is_the_one_of_all() -> None:
    assert {kind: load_crd(kind) for kind in CRDS} == CRDS


# Names and versions

SHORT_NAMES = {
    "AIMService": ["aimsvc"],
    "AIMModel": ["aimmdl"],
    "AIMClusterModel": ["aimclmdl"],
    "AIMServiceTemplate": ["aimtpl"],
    "AIMClusterServiceTemplate": ["aimcltpl"],
    "AIMTemplateCache": ["aimtc"],
    "AIMArtifact": ["aimart"],
    "AIMRuntimeConfig": ["aimrc"],
    "AIMClusterRuntimeConfig": ["aimclrc"],
    "AIMProfile": ["aimprf"],
    "AIMClusterProfile": ["aimclprf"],
    "AIMProfileSet": ["aimprfset"],
    "AIMClusterProfileSet": ["aimclprfset"],
    "AIMProfileCache": ["aimpc"],
    "InferenceService": ["isvc"],
    "ServingRuntime": [],
    "ClusterServingRuntime": [],
}


def test_short_names_and_categories() -> None:
    assert {kind.name: get_list(crd, "spec", "names", "shortNames") for kind, crd in CRDS.items()} == SHORT_NAMES
    for kind, crd in CRDS.items():
        expected = ["aim", "all"] if kind.group == AIM_GROUP else []
        assert get_list(crd, "spec", "names", "categories") == expected


def test_versions_are_served_and_the_newest_is_stored() -> None:
    for kind in CRDS:
        found = versions(kind)
        assert list(found) == (["v1alpha1", "v1alpha2"] if kind in DUAL_VERSION_KINDS else [kind.version])
        assert [name for name, version in found.items() if version["storage"] is True] == [kind.version]
        assert all(version["served"] is True for version in found.values())
        assert [name for name, version in found.items() if has(version, "deprecated")] == list(found)[:-1]


def test_status_is_a_subresource_where_the_kind_has_one() -> None:
    without = {kind.name for kind in CRDS for version in versions(kind).values() if not has(version, "subresources")}
    assert without == {"ServingRuntime", "ClusterServingRuntime"}


def test_every_aim_status_tells_its_generation() -> None:
    for kind, version in ALL_SCHEMAS:
        if kind.group == AIM_GROUP or kind.name == "InferenceService":
            observed = get_map(schema(kind, version), "properties", "status", "properties", "observedGeneration")
            assert (observed["type"], observed["format"]) == ("integer", "int64")


@pytest.mark.parametrize("kind", DUAL_VERSION_KINDS, ids=lambda kind: kind.name)
def test_both_versions_have_one_property_tree(kind: Kind) -> None:
    # Rules below the object included: only the object's own rules may differ.
    old, new = schema(kind, "v1alpha1"), schema(kind, "v1alpha2")
    assert old["properties"] == new["properties"]
    differing = {key for key in old.keys() | new.keys() if old.get(key) != new.get(key)}
    assert differing == {"x-kubernetes-validations"}


# The schemas


@pytest.mark.parametrize(("kind", "version"), ALL_SCHEMAS, ids=lambda value: getattr(value, "name", value))
def test_schemas_are_whole(kind: Kind, version: str) -> None:
    root = schema(kind, version)
    assert get(root, "properties", "metadata") == {"type": "object"}
    for path, node in nodes(root):
        known = get_map(node, "properties")
        assert set(get_list(node, "required")) <= set(known), path
        # An item of such a list cannot do without its keys.
        item = get_map(node, "items")
        for key in get_list(node, "x-kubernetes-list-map-keys"):
            defaulted = has(item, "properties", str(key), "default")
            assert key in get_list(item, "required") or defaulted, path
        if has(node, "default") and has(node, "enum"):
            assert node["default"] in get_list(node, "enum"), path


@pytest.mark.parametrize(("kind", "version"), ALL_SCHEMAS, ids=lambda value: getattr(value, "name", value))
def test_every_rule_says_what_is_wrong_with_which_field(kind: Kind, version: str) -> None:
    for path, node in nodes(schema(kind, version)):
        for rule in rules(node):
            message, field = get_str(rule, "message") or "", (get_str(rule, "fieldPath") or "").removeprefix(".")
            assert message, rule
            if not path:
                # Rules about the object point at the field and name it from the top.
                assert field
                assert message.startswith(field), message
            elif path.startswith(".spec"):
                assert (field or path).rpartition(".")[2].rstrip("[]{}") in message, message


@pytest.mark.parametrize("kind", DUAL_VERSION_KINDS, ids=lambda kind: kind.name)
def test_what_v1alpha2_took_away_names_its_replacement(kind: Kind) -> None:
    messages = [get_str(rule, "message") or "" for rule in rules(schema(kind, "v1alpha2"))]
    removed = [message for message in messages if "is not part of v1alpha2" in message]
    assert removed
    assert all("is not part of v1alpha2: use " in message for message in removed)


def test_columns_of_services_show_the_profile_from_v1alpha2_on() -> None:
    service = next(kind for kind in CRDS if kind.name == "AIMService")
    for version, priority in (("v1alpha1", 1), ("v1alpha2", 0)):
        columns = {
            column["name"]: column for column in get_objects(versions(service)[version], "additionalPrinterColumns")
        }
        assert columns["Profile"].get("priority", 0) == priority
        assert columns["Profile"]["jsonPath"] == ".status.resolvedProfile.name"


# The cases


@dataclass(frozen=True, slots=True)
class AskedRule:
    """A rule that an object is held to: where it stands, what it says and where its error is reported."""

    identity: tuple[str, ...]
    message: str
    field: str
    transition: bool
    has_old: bool


def asked(case: RuleCase) -> list[AskedRule]:
    """Return the rules that the API server asks about the object of a case, as far as the parts exist."""
    root = schema(KINDS[case.kind.name], case.kind.version)
    return list(_asked(case.kind, root, case.object, case.old, ""))


def _asked(kind: Kind, node: JsonObject, value: Json, old: Json, path: str) -> Iterator[AskedRule]:
    for rule in rules(node):
        cel, message = get_str(rule, "rule") or "", get_str(rule, "message") or ""
        # The object's own rules are asked of one version, all others wherever the structure stands.
        identity = (kind.name, kind.version, cel) if not path else (cel, message)
        transition = "oldSelf" in cel and not has(rule, "optionalOldSelf")
        field = f"{path}{get_str(rule, 'fieldPath') or ''}".removeprefix(".")
        yield AskedRule(identity, message, field, transition, old is not None)
    if isinstance(value, dict):
        for name, child in get_map(node, "properties").items():
            if name in value:
                yield from _asked(kind, get_map(child), value[name], get(old, name), f"{path}.{name}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _asked(kind, get_map(node, "items"), item, None, f"{path}[{index}]")


def test_every_rule_refuses_a_case_and_accepts_another() -> None:
    every = {
        (kind.name, version, cel) if not path else (cel, get_str(rule, "message") or "")
        for kind, version in ALL_SCHEMAS
        for path, node in nodes(schema(kind, version))
        for rule in rules(node)
        for cel in [get_str(rule, "rule") or ""]
    }
    refusing, accepting = set(), set()
    for case in CASES:
        for rule in asked(case):
            if rule.transition and not rule.has_old:
                continue
            if case.refused is None:
                accepting.add(rule.identity)
            elif case.refused in rule.message and case.field == rule.field:
                refusing.add(rule.identity)
    assert every - refusing == set()
    assert every - accepting == set()


def test_every_field_of_every_trap_is_refused_at_v1alpha2_and_has_an_accepted_neighbour() -> None:
    refused = {row: {case.field for case in CASES if case.trap == row and case.refused} for row in TRAPS}
    newest = [case for case in CASES if case.trap and case.kind.version == "v1alpha2"]
    for row, fields in TRAPS.items():
        assert fields <= {case.field for case in newest if case.trap == row and case.refused}, row
        # A case may show that a row's object breaks another rule as well.
        assert fields <= refused[row], row
        assert any(case.trap == row and case.refused is None for case in CASES), row
    assert {case.trap for case in newest} == set(TRAPS)


def test_no_two_cases_of_a_kind_share_a_name() -> None:
    names = [str(case) for case in CASES]
    assert sorted(set(names)) == sorted(names)


def test_there_is_an_example_of_every_kind_and_of_both_versions() -> None:
    found = {(example.kind.name, example.kind.version) for example in examples()}
    assert {kind.name for kind in CRDS} == {name for name, _ in found}
    assert {("AIMService", "v1alpha1"), ("AIMService", "v1alpha2")} <= found
    assert {("AIMModel", "v1alpha1"), ("AIMModel", "v1alpha2")} <= found
