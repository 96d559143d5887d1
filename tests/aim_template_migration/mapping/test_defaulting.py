from aim_template_migration.mapping.defaulting import normalised, with_defaults

SCHEMA = {
    "properties": {
        "mode": {"default": "Shared"},
        "nested": {"properties": {"count": {"default": 1}}},
        "filled": {"default": {}, "properties": {"inner": {"default": True}}},
        "items": {"items": {"properties": {"kind": {"default": "Gateway"}}}},
        "maps": {"additionalProperties": {"properties": {"size": {"default": "1Gi"}}}},
        "nullable": {"default": "x", "nullable": True},
    }
}


def test_absent_properties_get_their_defaults_and_absent_parents_none():
    assert with_defaults({}, SCHEMA) == {"mode": "Shared", "filled": {"inner": True}, "nullable": "x"}
    assert with_defaults({"nested": {}}, SCHEMA)["nested"] == {"count": 1}


def test_items_and_map_values_are_defaulted_too():
    value = with_defaults({"items": [{}, {"kind": "A"}], "maps": {"a": {}}}, SCHEMA)
    assert value["items"] == [{"kind": "Gateway"}, {"kind": "A"}]
    assert value["maps"] == {"a": {"size": "1Gi"}}


def test_a_null_counts_as_absent_unless_it_is_nullable():
    value = with_defaults({"mode": None, "nullable": None}, SCHEMA)
    assert (value["mode"], value["nullable"]) == ("Shared", None)


def test_defaults_are_not_shared_between_values():
    first, second = with_defaults({}, SCHEMA), with_defaults({}, SCHEMA)
    first["filled"]["more"] = 1
    assert "more" not in second["filled"]


def test_the_input_is_left_alone():
    value = {"nested": {}}
    with_defaults(value, SCHEMA)
    assert value == {"nested": {}}


def test_normal_form_drops_what_states_nothing_and_sorts_environments():
    assert normalised({"a": {}, "b": [], "c": None, "d": {"e": ""}, "f": 0, "g": False}) == {"f": 0, "g": False}
    assert normalised([{"name": "b"}, {"name": "a"}]) == [{"name": "a"}, {"name": "b"}]
    assert normalised([{"modelId": "b"}, {"modelId": "a"}]) == [{"modelId": "b"}, {"modelId": "a"}]
