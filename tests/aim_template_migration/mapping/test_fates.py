"""Every field of the served schemas has a fate, found by walking the CRDs."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aim_api.crds import load_crds
from aim_api.tree import JsonObject, leaves
from aim_template_migration.documents.codes import CODES
from aim_template_migration.mapping.cache_fates import TEMPLATE_CACHE_FATES
from aim_template_migration.mapping.fates import Fate, FateTable
from aim_template_migration.mapping.model_fates import MODEL_FATES
from aim_template_migration.mapping.runtime_config_fates import RUNTIME_CONFIG_FATES
from aim_template_migration.mapping.service_fates import SERVICE_FATES
from aim_template_migration.mapping.template_fates import TEMPLATE_FATES

TABLES = {
    "AIMService": SERVICE_FATES,
    "AIMServiceTemplate": TEMPLATE_FATES,
    "AIMClusterServiceTemplate": TEMPLATE_FATES,
    "AIMModel": MODEL_FATES,
    "AIMClusterModel": MODEL_FATES,
    "AIMTemplateCache": TEMPLATE_CACHE_FATES,
    "AIMRuntimeConfig": RUNTIME_CONFIG_FATES,
    "AIMClusterRuntimeConfig": RUNTIME_CONFIG_FATES,
}


def leaf_paths(schema: JsonObject, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    """Yield a concrete path for every leaf property of a schema."""
    if schema.get("properties"):
        for name, below in schema["properties"].items():
            yield from leaf_paths(below, (*path, name))
    elif isinstance(schema.get("items"), dict):
        yield from leaf_paths(schema["items"], (*path, 0))
    elif isinstance(schema.get("additionalProperties"), dict):
        yield from leaf_paths(schema["additionalProperties"], (*path, "any-key"))
    else:
        yield path


def served_specs() -> Iterator[tuple[str, JsonObject]]:
    for definition in load_crds():
        kind = definition["spec"]["names"]["kind"]
        for version in definition["spec"]["versions"]:
            if kind in TABLES and version["served"]:
                yield f"{kind} {version['name']}", version["schema"]["openAPIV3Schema"]["properties"]["spec"]


SPECS = dict(served_specs())


@pytest.mark.parametrize("name", SPECS)
def test_every_served_field_has_a_fate(name: str):
    table = TABLES[name.split(maxsplit=1)[0]]
    missing = [path for path in leaf_paths(SPECS[name], ("spec",)) if table.find(path) is None]
    assert missing == []


@pytest.mark.parametrize(
    "table", {id(table): table for table in TABLES.values()}.values(), ids=lambda table: table.kind
)
def test_every_served_row_names_a_served_field(table: FateTable):
    paths = {
        path for name, spec in SPECS.items() if TABLES[name.split()[0]] is table for path in leaf_paths(spec, ("spec",))
    }
    used = {id(table.find(path)) for path in paths}
    # The last row of spec.overrides catches what a served schema can't hold, and so no served field reaches it.
    idle = [
        fate.path for fate in table.fates if fate.served and id(fate) not in used and fate.path != "spec.overrides.**"
    ]
    assert idle == []


def test_every_row_says_why_and_refuses_with_a_known_code():
    for table in TABLES.values():
        for fate in table.fates:
            assert fate.reason
            assert not fate.refusal or fate.refusal in CODES
            assert bool(fate.target) or fate.fate in (Fate.DEFAULTED, Fate.REFUSED), fate.path


@pytest.mark.parametrize(
    ("path", "value", "found"),
    [
        (("spec", "template", "name"), "x", "spec.template.name"),
        (("spec", "template"), {}, "spec.template.name"),
        (("spec", "model", "custom", "hardware", "gpu", "model"), "x", "spec.model.custom.hardware.gpu.model"),
        (("spec", "model", "custom", "hardware", "cpu", "limits"), "1", "spec.model.custom.hardware.**"),
        (("spec", "adapters", 3, "name"), "x", "spec.adapters[].**"),
        (("spec", "adapters"), [], "spec.adapters[].**"),
        (("spec", "env", 0, "value"), "x", "spec.env[].**"),
        (("spec", "env"), None, "spec.env[].**"),
        (("spec", "template"), None, "spec.template.name"),
        (("spec", "brandNew"), None, None),
        (("spec", "template"), [], None),
        (("spec", "resources"), "", None),
        (("spec", "template", "name"), {}, None),
        (("spec", "env"), {}, None),
        (("spec", "resources"), [], None),
        (("spec", "overrides", "hardware", "gpu", "brandNew"), 1, "spec.overrides.**"),
        (("spec", "template", "brandNew"), 1, None),
        (("spec", "brandNew"), {}, None),
        (("spec", "template"), "text where an object belongs", None),
    ],
)
def test_a_concrete_path_finds_its_row(path: tuple[str | int, ...], value: object, found: str | None):
    fate = SERVICE_FATES.find(path, value)
    assert (fate.path if fate else None) == found


KEYS = sorted({part for table in TABLES.values() for fate in table.fates for part in fate.path.split(".")} - {"**"})
SPECS_OF_ANY_SHAPE = st.recursive(
    st.sampled_from([None, "", "text", 1, True, {}, []]),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(st.sampled_from([key.removesuffix("[]") for key in KEYS] + ["unknown"]), below, max_size=4)
    ),
    max_leaves=12,
)


def known_shapes(table: FateTable) -> st.SearchStrategy[JsonObject]:
    """Return objects in which a few fields of the table stand at their places, with values of any shape."""

    def placed(choice):
        value: JsonObject = {"spec": {}}
        for fate, item in choice:
            here = value
            *above, last = fate.path.replace("[]", "").replace("**", "any").replace("*", "any").split(".")
            for part in above:
                here = here.setdefault(part, {})
                if not isinstance(here, dict):
                    break
            else:
                here[last] = [item] if "[]" in fate.path else item
        return value

    return st.lists(st.tuples(st.sampled_from(table.fates), SPECS_OF_ANY_SHAPE), max_size=5).map(placed)


@pytest.mark.parametrize(
    "kind", ["AIMService", "AIMServiceTemplate", "AIMModel", "AIMTemplateCache", "AIMRuntimeConfig"]
)
@given(data=st.data())
def test_the_exceptions_are_the_leaves_with_no_fate_or_a_refusal(kind: str, data: st.DataObject):
    table = TABLES[kind]
    value = data.draw(known_shapes(table) | st.fixed_dictionaries({"spec": SPECS_OF_ANY_SHAPE}))
    every = [(path, item, table.find(path, item)) for path, item in leaves(value)]
    assert table.exceptions(value) == [entry for entry in every if entry[2] is None or entry[2].refusal]
