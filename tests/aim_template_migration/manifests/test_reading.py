import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aim_template_migration.manifests.nodes import MapNode, ReadError
from aim_template_migration.manifests.reading import ManifestText, read_manifest
from tests.aim_template_migration.manifests.kubectl import read_by_kubectl

HEAD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"


def read(text: str) -> ManifestText:
    return read_manifest(text.encode())


def values(text: str) -> list[object]:
    return [document.value for document in read(text).documents]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("---\n", []),
        ("# a comment\n---\n# another\n", []),
        ("a: 1\n---\n---\n# c\n---\nb: 2\n", [{"a": 1}, {"b": 2}]),
        ("--- # c\na: 1\n", [{"a": 1}]),
        ("--- {a: 1}\n--- {b: 2}\n", [{"a": 1}, {"b": 2}]),
        ("%YAML 1.1\n---\na: 1\n---\nb: 2\n", [{"a": 1}, {"b": 2}]),
        ("a: 1\r\n---\r\nb: |\r\n  x\r\n  y\r\n", [{"a": 1}, {"b": "x\ny\n"}]),
        ("on: 1\n2: b\n1.5: c\n", [{"true": 1, "2": "b", "1.5": "c"}]),
        ("a: &x {q: 1}\nb: *x\nc: {<<: *x, r: 2}\nd: {q: 5, <<: *x}\n", [
            {"a": {"q": 1}, "b": {"q": 1}, "c": {"q": 1, "r": 2}, "d": {"q": 1}}
        ]),
        ("a: &x {q: 1}\nb: &y {q: 2, r: 3}\nc: {<<: [*x, *y]}\n", [
            {"a": {"q": 1}, "b": {"q": 2, "r": 3}, "c": {"q": 1, "r": 3}}
        ]),
        ("a:\n- b: 1\n  c: 2\n-\n- [x, z]\n", [{"a": [{"b": 1, "c": 2}, None, ["x", "z"]]}]),
        ('\ufeff{"a": "\\ud83d\\ude00"}\n{"b": [1, 2.0, -1e2, true, null]}', [
            {"a": "😀"}, {"b": [1, 2, -100, True, None]}
        ]),
        ("{a: b, c: d}\n", [{"a": "b", "c": "d"}]),
        ('{"a": "\\ud83d"}', [{"a": "\ufffd"}]),
    ],
)  # fmt: skip
def test_documents_are_read(text: str, expected: list[object]) -> None:
    assert values(text) == expected


def test_later_documents_are_read_although_one_is_unreadable() -> None:
    manifest = read("a: 1\n---\nb: {{ .Values.x }}\n---\nc: 3\n")
    assert [document.value for document in manifest.documents] == [{"a": 1}, {"c": 3}]
    assert [manifest.position(item.offset).line for item in manifest.unreadable] == [3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: *n\n", "an alias here stands for nothing"),
        ("a: &x [*x]\n", "&x contains itself"),
        ("? {a: 1}\n: 2\n", "a key must be"),
        ("? [a]\n: 2\n", "a key must be"),
        ("~: 2\n", "a key must be"),
        ("a: .inf\n", "JSON can express"),
        ("a: " + "[" * 200, "deeper than"),
        ("a: \x01\n", "control characters"),
        ("a: [1\n", "did not find"),
        ("a: 1\n b: 2\n", "mapping values"),
        ("<<: 3\n", "merges mappings only"),
    ],
)
def test_what_is_wrong_is_said(text: str, message: str) -> None:
    manifest = read(text)
    assert not manifest.documents
    assert message in manifest.unreadable[0].message


def test_aliases_are_no_bomb() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    assert "aliases stand for" in read("\n".join(lines)).unreadable[0].message


def test_other_encodings_are_refused() -> None:
    with pytest.raises(ReadError, match="UTF-8"):
        read_manifest("a: é".encode("latin-1"))


def test_duplicate_keys_are_found() -> None:
    manifest = read("a: 1\nb: {c: 1, c: 2}\na: 3\n")
    document = manifest.documents[0]
    assert document.value == {"a": 3, "b": {"c": 2}}
    assert [(item.name, manifest.position(item.offset).line) for item in document.duplicates] == [("c", 2), ("a", 3)]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_paths_lead_to_places(newline: str) -> None:
    text = newline.join(["# é😀", "spec:", "  env:", "  - name: A", "    value: |", "      x", "", "# c", "  image: z"])
    manifest = read(text)
    assert manifest.newline == newline
    document = manifest.documents[0]

    def place(*path: str | int) -> tuple[int, int, str]:
        node = document.find(path).node
        position = manifest.position(node.start)
        return position.line, position.column, manifest.text[node.start : node.end]

    assert place("spec", "env", 0, "name") == (4, 11, "A")
    assert place("spec", "env", 0, "value")[:2] == (5, 12)
    assert place("spec", "env", 0, "value")[2].splitlines() == ["|", "      x"]
    assert place("spec", "image") == (9, 10, "z")
    assert not document.find(("spec", "env", 1)).complete
    assert not document.find(("spec", "image", "x")).complete


def test_a_merged_value_is_found_where_it_stands() -> None:
    manifest = read("base: &b\n  x: 1\nspec:\n  <<: *b\n  y: 2\n")
    found = manifest.documents[0].find(("spec", "x"))
    assert found.complete
    assert manifest.position(found.node.start).line == 2


def test_offsets_are_those_of_the_file_in_every_document() -> None:
    text = "a: 1\n---\n# c\nb: two\n---\nc: 3\n"
    roots = [document.root for document in read(text).documents]
    assert [text[root.start : root.end] for root in roots] == ["a: 1", "b: two", "c: 3"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), json_values, max_size=5), st.booleans(), st.sampled_from([None, 2]))
def test_json_is_read_as_json(value: dict[str, object], ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    document = read_manifest(text.encode("utf-8", "surrogatepass")).documents[0]
    assert document.json
    assert document.value == value
    assert isinstance(document.root, MapNode)
    assert (document.root.start, document.root.end) == (0, len(text))


@settings(max_examples=300)
@given(st.text(alphabet=st.sampled_from("ab:-#&*!|>'\"{}[],?%@`~ \n\t\r0.\x85\u2028\ufeff"), max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    manifest = read(text)
    for document in manifest.documents:
        assert 0 <= document.root.start <= document.root.end <= len(text)


@pytest.mark.kubectl
@pytest.mark.kubectl
def test_kubectl_reads_the_same() -> None:
    text = "---\n".join(
        f"{HEAD}data:\n{body}"
        for body in (
            "  a: &x {q: 1}\n  b: *x\n  c: {<<: *x, r: 2}\n  d: {q: 5, <<: *x}\n",
            "  on: 1\n  2: b\n  1.5: c\n",
            "  a: |-\n    x\n    y\n  b: >\n    x\n    y\n  c: |+\n    z\n\n",
            "  a: &x {q: 1}\n  b: &y {q: 2, r: 3}\n  c: {<<: [*x, *y]}\n",
            "  x: 'it''s'\n  y: \"\\u00e9\\t\"\n  z:\n  - - a\n    - b\n  - c: d\n",
        )
    )
    assert read_by_kubectl(text) == values(text)
