"""Building blocks: parameters, computed values, changes; and the sentences for what is wrong."""

import pytest

from aim_rehearsal.worlds.expansion import WorldError, expand, merged

BLOCKS = {
    "pair": {
        "parameters": {"name": None, "count": 1, "extra": []},
        "values": {"label": "labelValue(name)", "memory": "multiple(count, 32, Gi)"},
        "objects": [
            {
                "kind": "Model",
                "metadata": {"name": "${name}-model"},
                "spec": {"count": "${count}", "label": "${label}", "memory": "${memory}", "env": ["a", "${*extra}"]},
            },
            {"kind": "Cache", "metadata": {"name": "${name}-cache"}, "spec": {}},
            {"workload": "InferenceService/ns/${name}"},
        ],
    },
    "outer": {
        "parameters": {"name": "Inner One"},
        "use": [{"block": "pair", "with": {"name": "${name}", "label": "given"}}],
        "objects": [{"kind": "Extra", "metadata": {"name": "more"}}],
    },
}


def use(block, **rest):
    return expand({"block": block} | rest, BLOCKS.__getitem__)


def test_parameters_keep_their_type_and_values_are_computed():
    model, cache, workload = use("pair", **{"with": {"name": "Q w", "count": 2, "extra": ["b", "c"]}})
    assert model["spec"] == {"count": 2, "label": "q_w", "memory": "64Gi", "env": ["a", "b", "c"]}
    assert cache["metadata"] == {"name": "Q w-cache"}
    assert workload == {"workload": "InferenceService/ns/Q w"}


def test_a_block_builds_on_another_and_may_give_a_computed_value():
    model, *_, extra = use("outer")
    assert model["spec"]["label"] == "given"
    assert extra["metadata"]["name"] == "more"


def test_changes_call_objects_by_kind_or_by_name_and_drops_take_them_away():
    given = {"with": {"name": "q"}, "change": {"Model": {"spec": {"count": None}}, "Cache/q-cache": {"spec": {"a": 1}}}}
    model, cache = use("pair", drop=["Workload"], **given)
    assert "count" not in model["spec"]
    assert cache["spec"] == {"a": 1}


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"with": {}}, "block pair needs a value for parameter name."),
        ({"with": {"name": "q", "colour": 1}}, "block pair has no parameter colour; it has: name, count, extra."),
        ({"with": {"name": "q"}, "change": {"Pod": {}}}, "block pair has no object Pod; it has: "),
        ({"with": {"name": "q"}, "drop": ["Cache/x"]}, "block pair has no object Cache/x; it has: "),
    ],
)
def test_mistakes_are_named(wrong, sentence):
    with pytest.raises(WorldError) as caught:
        use("pair", **wrong)
    assert str(caught.value).startswith(sentence)


def test_an_unknown_placeholder_or_function_is_named():
    blocks = {"a": {"objects": [{"kind": "K", "spec": "${missing}"}]}, "b": {"values": {"x": "shout(name)"}}}
    with pytest.raises(WorldError, match="missing"):
        expand({"block": "a"}, blocks.__getitem__)
    with pytest.raises(WorldError, match="shout"):
        expand({"block": "b"}, blocks.__getitem__)


def test_a_merge_patch_removes_nulls_and_replaces_lists():
    assert merged({"a": {"b": 1, "c": [1, 2]}, "d": 1}, {"a": {"c": [3]}, "d": None}) == {"a": {"b": 1, "c": [3]}}
    assert merged("text", {"a": 1}) == {"a": 1}
