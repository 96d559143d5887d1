"""What is reused of a text, and where its comments are."""

import pytest

from aim_template_migration.manifests.nodes import ListNode, MapNode, ScalarNode, find, scalars_of
from aim_template_migration.manifests.origins import Provenance
from aim_template_migration.manifests.reading import read_manifest
from aim_template_migration.manifests.removing import Reused
from aim_template_migration.manifests.splicing import comments


@pytest.mark.parametrize(
    "spans", [[(2, 4), (6, 9), (7, 8)], [(7, 8), (6, 9), (2, 3), (2, 4)], [(2, 3), (3, 4), (6, 9)]]
)
def test_spans_hold_what_is_in_one_of_them(spans: list[tuple[int, int]]) -> None:
    reused = Reused("0123456789", spans)
    assert [offset for offset in range(10) if reused.holds(offset)] == [2, 3, 6, 7, 8]


def test_spans_begin_in_lines() -> None:
    text = "a: 1\n  b: 2\n"
    assert [offset for offset in range(len(text)) if Reused(text, [(7, 9)]).begins_in_line(offset)] == [5]


def test_comments_are_those_between_the_values() -> None:
    text = "# above\na: x#y # behind\nb: 'z # no'   # too\nc: | # head\n  # text\n\n# below\n"
    document = read_manifest(text.encode()).documents[0]
    found = [comment.text for comment in comments(text, document.root, 0, len(text))]
    assert found == ["# above", "# behind", "# too", "# below"]


def test_scalars_are_in_the_order_of_the_text() -> None:
    text = "{a: [1, {b: &x 2}], c: *x}"
    root = read_manifest(f"x: {text}\n".encode()).documents[0].root
    starts = [node.start for node in scalars_of(root)]
    assert starts == sorted(starts)
    assert len(starts) == 7


def test_a_path_leads_to_the_entry_that_decides() -> None:
    text = "a: &a {x: 1, w: 2}\nb: &b {w: 3, z: 4}\nc: {x: 0, <<: [*a, *b], z: 5, z: 6}\nd: {<<: *b, z: 7}\n"
    document = read_manifest(text.encode()).documents[0]
    value = document.value
    assert value == {
        "a": {"x": 1, "w": 2},
        "b": {"w": 3, "z": 4},
        "c": {"x": 1, "w": 2, "z": 6},
        "d": {"w": 3, "z": 7},
    }
    for outer in ("c", "d"):
        for key, item in value[outer].items():
            node = find(document.root, (outer, key)).node
            assert isinstance(node, ScalarNode)
            assert node.value == item
    assert not find(document.root, ("c", "absent")).complete
    assert isinstance(find(document.root, ("c", "absent")).node, MapNode | ListNode)


def test_an_origin_is_listed_for_a_path_or_below_it() -> None:
    origins = Provenance({("a", "b"): ("x",), ("c",): None})
    assert [origins.has_below(path) for path in [(), ("a",), ("a", "b"), ("a", "b", "c"), ("c",), ("b",)]] == [
        True, True, True, False, True, False
    ]  # fmt: skip
    assert origins.of(("a", "b"), ("z",)) == ("x",)
    assert origins.of(("c",), ()) is None
    assert origins.of(("a", "d"), ("z",)) == ("z", "d")
