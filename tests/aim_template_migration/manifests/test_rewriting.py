import copy
import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aim_api.tree import Json, JsonObject
from aim_template_migration.documents.backup_yaml import emit
from aim_template_migration.manifests.layout import same
from aim_template_migration.manifests.origins import Origins, Path
from aim_template_migration.manifests.reading import read_manifest
from aim_template_migration.manifests.rewriting import NewObject, ObjectChange, Rewritten, rewrite
from tests.aim_template_migration.manifests.kubectl import read_by_kubectl

SERVICE = """\
# licence

# my service
apiVersion: aim.eai.amd.com/v1alpha1   # old
kind: AIMService
metadata:
  name: "qwen-chat"
spec:
  model: {name: qwen}
  # choose
  template:  # by name
    selectionCriteria:
      precision: fp8   # quick
      metric: latency
    allowUnoptimized: true # why
  replicas: 2
  env:
    - name: A
      value: "1"  # one
    - name: AIM_ENGINE_ARGS
      value: >-
        {"a": 1}

    - name: B
      value: |+
        b

# end
"""


def value_of(text: str) -> JsonObject:
    value = read_manifest(text.encode()).documents[0].value
    assert isinstance(value, dict)
    return value


def changed(
    text: str, becomes: JsonObject | None, origins: Origins | None = None, *, path: Path = (), **beside: NewObject
) -> Rewritten:
    new = None if becomes is None else NewObject(becomes, origins or {})
    before = (beside["before"],) if "before" in beside else ()
    after = (beside["after"],) if "after" in beside else ()
    return rewrite(read_manifest(text.encode()), {0: [ObjectChange(path, new, before, after)]})


def edited(text: str, edit: Callable[[dict[str, Json]], None], origins: Origins | None = None) -> str:
    value = copy.deepcopy(value_of(text))
    edit(value)
    result = changed(text, value, origins)
    assert same(value_of(result.text), value)
    assert not result.anew
    return result.text


def spec(value: JsonObject) -> JsonObject:
    found = value["spec"]
    assert isinstance(found, dict)
    return found


def difference(old: str, new: str) -> tuple[list[str], list[str]]:
    before, after = old.splitlines(), new.splitlines()
    return [line for line in before if line not in after], [line for line in after if line not in before]


def test_nothing_changes_where_nothing_is_to_change() -> None:
    assert changed(SERVICE, value_of(SERVICE)).text == SERVICE
    assert rewrite(read_manifest(SERVICE.encode()), {}).text == SERVICE


def test_a_renamed_key_keeps_what_is_below_and_beside_it() -> None:
    def rename(value: JsonObject) -> None:
        spec(value)["profile"] = spec(value).pop("template")

    new = edited(SERVICE, rename, {("spec", "profile"): ("spec", "template")})
    assert difference(SERVICE, new) == (["  template:  # by name"], ["  profile:  # by name"])


def test_a_scalar_keeps_its_quotes_and_comment() -> None:
    def change(value: JsonObject) -> None:
        value["apiVersion"] = "aim.eai.amd.com/v1alpha2"
        value["metadata"] = {"name": "yes"}

    removed, added = difference(SERVICE, edited(SERVICE, change))
    assert removed == ["apiVersion: aim.eai.amd.com/v1alpha1   # old", '  name: "qwen-chat"']
    assert added == ["apiVersion: aim.eai.amd.com/v1alpha2   # old", '  name: "yes"']


def test_a_removed_entry_leaves_its_comments() -> None:
    new = edited(SERVICE, lambda value: spec(value).__delitem__("template"))
    assert new == SERVICE.replace(
        SERVICE[SERVICE.index("  template:") : SERVICE.index("  replicas:")], "  # by name\n  # quick\n  # why\n"
    )


def test_a_moved_entry_takes_its_comments_along() -> None:
    def move(value: JsonObject) -> None:
        template = spec(value)["template"]
        assert isinstance(template, dict)
        del template["allowUnoptimized"]
        spec(value)["profile"] = {"selector": template["selectionCriteria"], "z": spec(value).pop("template")}

    origins = {
        ("spec", "profile", "selector"): ("spec", "template", "selectionCriteria"),
        ("spec", "profile", "z"): ("spec", "template"),
    }
    new = edited(SERVICE, move, origins)
    assert "    selector:\n      precision: fp8   # quick\n      metric: latency\n" in new
    assert "    # choose\n    z:  # by name\n      selectionCriteria:\n        precision: fp8   # quick\n" in new
    assert new.count("# choose") == 1


def test_an_item_is_removed_and_others_stay_as_they_are() -> None:
    def remove(value: JsonObject) -> None:
        spec(value)["env"] = [item for item in spec(value)["env"] if item["name"] != "AIM_ENGINE_ARGS"]  # type: ignore[union-attr, index, call-overload]

    origins = {("spec", "env", 1): ("spec", "env", 2)}
    removed, added = difference(SERVICE, edited(SERVICE, remove, origins))
    assert removed == ["    - name: AIM_ENGINE_ARGS", "      value: >-", '        {"a": 1}']
    assert added == []


def test_new_entries_take_the_layout_of_the_document() -> None:
    def add(value: JsonObject) -> None:
        spec(value)["modelSources"] = [{"modelId": "a/b", "no": ["yes", "1e3", 1, None]}]

    new = edited(SERVICE, add)
    lines = [
        "  modelSources:",
        "    - modelId: a/b",
        '      "no":',
        '        - "yes"',
        '        - "1e3"',
        "        - 1",
        "        - null",
    ]
    # The block scalar above keeps its final blank line, which is part of its value.
    assert new == SERVICE.replace("# end\n", "\n".join([*lines, "# end", ""]))


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_line_ends_and_a_missing_last_one_stay(newline: str) -> None:
    text = newline.join(["# é", "a:", "  b: 1  # one", "  c: 2"])
    new = edited(text, lambda value: value.update({"a": {"b": 2, "d": {"e": "f"}}, "z": 1}))
    assert new == newline.join(["# é", "a:", "  b: 2  # one", "  d:", "    e: f", "z: 1"])


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("a:\nb: 1\n", {"a": "x", "b": 1}, "a: x\nb: 1\n"),
        ("a: # c\nb: 1\n", {"a": "x", "b": 1}, "a: x # c\nb: 1\n"),
        ("a: 1 # c\n", {"a": {"b": 2}}, "a:\n  b: 2\n# c\n"),
        ("a:\n  b: 1 # c\n", {"a": 2}, "a: 2\n# c\n"),
        ("a:\n  b: 1\n", {"a": {}}, "a: {}\n"),
        ("a: {b: 1, c: 2, d: 3}\n", {"a": {"c": 2}}, "a: {c: 2}\n"),
        ("a: {b: 1, c: 2, d: 3}\n", {"a": {"b": 1, "d": 4}}, "a: {b: 1, d: 4}\n"),
        ("a: {b: 1}\n", {"a": {"b": 1, "no": "hf://x"}}, 'a: {b: 1, "no": "hf://x"}\n'),
        ("a: {b: 1}\n", {"a": {"c": [1]}}, "a: {c: [1]}\n"),
        ("a: [1, 2, 3]\n", {"a": [1, 2, 3, 4]}, "a: [1, 2, 3, 4]\n"),
        ("a: [1, {b: c}]\n", {"a": [1, {"b": "d"}]}, "a: [1, {b: d}]\n"),
        ("- a: 1\n  b: 2\n- c\n", [{"b": 2}, "c"], "- b: 2\n- c\n"),
        ("- a: 1\n  b: 2\n- c\n", [{"a": 1, "b": 2}, "c", {"d": [1]}], "- a: 1\n  b: 2\n- c\n- d:\n    - 1\n"),
        ("- a: 1\n", [{"a": 1, "b": 2}], "- a: 1\n  b: 2\n"),
        ("a: 'it''s'\n", {"a": "it's 2"}, "a: 'it''s 2'\n"),
        ("a: 'x'\n", {"a": "é"}, 'a: "é"\n'),
        ("a: |\n  x\n  y\nb: 1\n", {"b": 1}, "\nb: 1\n"),
        ('"a": 1\n', {"b": 1}, "b: 1\n"),
        ("b: 1\n", {"a": 2, "b": 1}, "a: 2\nb: 1\n"),
    ],
)
def test_shapes(text: str, value: Json, expected: str) -> None:
    result = rewrite(read_manifest(text.encode()), {0: [ObjectChange((), NewObject(value))]})  # type: ignore[arg-type]
    assert result.text == expected
    assert not result.anew


ANCHORS = """\
a: &x
  b: 1  # one
  c: 2
d: *x
e:
  <<: *x
  f: 3
g: {<<: *x, h: [*x]}
"""


def test_anchors_stay_where_no_edit_touches_them() -> None:
    assert edited(ANCHORS, lambda value: value.update(z=1)) == ANCHORS + "z: 1\n"


def test_aliases_are_spelt_out_where_an_edit_would_change_what_they_stand_for() -> None:
    new = edited(ANCHORS, lambda value: value["a"].update(b=5))  # type: ignore[union-attr]
    assert new == (
        "a:\n  b: 5  # one\n  c: 2\nd:\n  b: 1\n  c: 2\n"
        "e:\n  b: 1\n  c: 2\n  f: 3\ng: {b: 1, c: 2, h: [{b: 1, c: 2}]}\n"
    )


def test_an_object_beside_it_goes_above_the_comment_of_the_object_and_below_that_of_the_file() -> None:
    new = changed(SERVICE, value_of(SERVICE), before=NewObject({"kind": "First"}), after=NewObject({"kind": "Last"}))
    assert new.text == SERVICE.replace("# my", "kind: First\n---\n# my") + "---\nkind: Last\n"


def test_a_new_object_is_made_from_the_text_of_the_old() -> None:
    new = changed(
        SERVICE,
        value_of(SERVICE),
        after=NewObject(
            {"kind": "New", "spec": {"deep": {"choice": spec(value_of(SERVICE))["template"]}}},
            {("spec", "deep", "choice"): ("spec", "template")},
        ),
    )
    assert new.text == SERVICE + (
        "---\nkind: New\nspec:\n  deep:\n    # choose\n    choice:  # by name\n      selectionCriteria:\n"
        "        precision: fp8   # quick\n        metric: latency\n      allowUnoptimized: true # why\n"
    )


def test_a_removed_object_leaves_the_others_and_the_comments_between_them() -> None:
    text = "a: 1\n---\n# about b\nb: 2 # two\n---\nc: 3\n"
    manifest = read_manifest(text.encode())
    assert rewrite(manifest, {1: [ObjectChange((), None)]}).text == "a: 1\n---\n# about b\n\n---\nc: 3\n"
    assert rewrite(manifest, {0: [ObjectChange((), None)]}).text == "---\n# about b\nb: 2 # two\n---\nc: 3\n"
    assert rewrite(manifest, {2: [ObjectChange((), None)]}).text == "a: 1\n---\n# about b\nb: 2 # two\n"


def test_only_the_wanted_document_changes() -> None:
    text = "a: {{ .Values }}\n---\nb: 2\n---\nfoo: [bar\n---\nc: 3"
    manifest = read_manifest(text.encode())
    assert rewrite(manifest, {0: [ObjectChange((), NewObject({"b": 4}))]}).text == text.replace("b: 2", "b: 4")


LIST = """\
apiVersion: v1
kind: List
items:
- kind: b   # c
  spec: {x: 1, template: {name: a}, z: 3}
- foo: bar
# trailing
"""


def test_items_of_a_list_are_changed_in_place() -> None:
    becomes: JsonObject = {"kind": "b", "spec": {"x": 1, "profile": {"name": "a"}, "z": 3}}
    origins = {("spec", "profile"): ("spec", "template")}
    new = changed(LIST, becomes, origins, path=("items", 0), before=NewObject({"kind": "new", "q": [1]}))
    assert new.text == LIST.replace("items:\n", "items:\n- kind: new\n  q:\n  - 1\n").replace("template", "profile")


def test_an_item_of_a_list_is_removed() -> None:
    assert changed(LIST, None, path=("items", 0)).text == LIST.replace(
        "- kind: b   # c\n  spec: {x: 1, template: {name: a}, z: 3}\n", "# c\n"
    )


def test_json_stays_json() -> None:
    value = value_of(SERVICE)
    for step in (None, 2, 4):
        text = json.dumps(value, indent=step)
        becomes = copy.deepcopy(value)
        spec(becomes)["profile"] = {"selector": {"precision": "fp8"}}
        del spec(becomes)["template"]
        new = changed(text, becomes).text
        assert json.loads(new) == becomes
        assert new == json.dumps(becomes, indent=step)


def test_a_json_file_with_one_object_becomes_a_list_where_another_is_added() -> None:
    new = changed('{\n    "a": 1\n}\n', {"a": 2}, after=NewObject({"b": "é"})).text
    assert json.loads(new) == {"apiVersion": "v1", "kind": "List", "items": [{"a": 2}, {"b": "é"}]}
    assert new.startswith('{\n    "apiVersion"')


def test_an_object_is_added_to_a_stream_of_json() -> None:
    text = '{"a": 1}\n{"b": 2}\n'
    manifest = read_manifest(text.encode())
    new = rewrite(manifest, {0: [ObjectChange((), NewObject({"a": 1}), after=(NewObject({"c": 3}),))]}).text
    assert new == '{"a": 1}\n{"c": 3}\n{"b": 2}\n'


def test_the_byte_order_mark_stays() -> None:
    manifest = read_manifest("\ufeffa: 1\n".encode())
    assert (
        manifest.encoded(rewrite(manifest, {0: [ObjectChange((), NewObject({"a": 2}))]}).text)
        == "\ufeffa: 2\n".encode()
    )


keys = st.sampled_from(["a", "b", "no", "on", "1", "x y", "é", "c-d"])
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 5),
    st.sampled_from(["x", "yes", "1e3", "", "# no", "a: b", "é\n z", "'", '"']),
)
trees = st.dictionaries(
    keys,
    st.recursive(
        scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4), max_leaves=12
    ),
    min_size=1,
    max_size=5,
)


@st.composite
def commented(draw: st.DrawFn) -> tuple[JsonObject, str]:
    """Return a value and a text for it with comments above and behind lines."""
    value = draw(trees)
    lines: list[str] = []
    for number, line in enumerate(emit(value, list_indent=draw(st.sampled_from(["", "  "]))).splitlines()):
        if draw(st.booleans()):
            lines.append(f"{' ' * (len(line) - len(line.lstrip()))}# above {number}")
        lines.append(f"{line}  # behind {number}" if draw(st.booleans()) else line)
    return value, "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n# end\n"]))


@st.composite
def mutated(draw: st.DrawFn, value: JsonObject) -> tuple[JsonObject, dict[Path, Path | None]]:
    """Return a value made from another by renaming, removing, moving, changing and adding, and the origins."""
    new: JsonObject = {}
    origins: dict[Path, Path | None] = {}
    for key, item in value.items():
        match draw(st.sampled_from(["keep", "keep", "remove", "rename", "change", "below", "into"])):
            case "keep":
                new[key] = item
            case "rename":
                new[f"new {key}"] = item
                origins[f"new {key}",] = (key,)
            case "change":
                new[key] = draw(scalars)
            case "below":
                new[f"in {key}"] = {"deep": {"er": item}}
                origins[f"in {key}", "deep", "er"] = (key,)
            case "into" if isinstance(item, dict) and item:
                below, inner = draw(mutated(item))
                new[key] = below
                origins |= {(key, *path): None if place is None else (key, *place) for path, place in inner.items()}
    if not new or draw(st.booleans()):
        new["added"] = draw(trees)
    return new, origins


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_any_change_of_any_document_is_made_without_writing_it_anew(data: st.DataObject) -> None:
    value, text = data.draw(commented())
    assert same(value_of(text), value)
    becomes, origins = data.draw(mutated(value))
    result = changed(text, becomes, origins)
    assert same(read_manifest(result.text.encode()).documents[0].value, becomes)
    assert not result.anew
    assert not result.lost


@pytest.mark.kubectl
@pytest.mark.kubectl
@settings(max_examples=3, deadline=None)
@given(st.lists(st.text(max_size=20), min_size=150, max_size=150))
def test_kubectl_reads_what_is_written(texts: list[str]) -> None:
    head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: 'x'\ndata: {a: 'b'}\n"
    value = value_of(head)
    value["data"] = {str(number): [text, {text: number}] for number, text in enumerate(texts)}
    value["quoted"] = {f"{number}q": text for number, text in enumerate(texts)}
    assert read_by_kubectl(changed(head, value).text) == [value]
