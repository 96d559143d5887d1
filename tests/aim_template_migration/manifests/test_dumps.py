"""Objects in files: documents and Lists taken apart, and one clear sentence about what cannot be read."""

import json

import pytest

from aim_template_migration.manifests.dumps import DumpUnreadableError, read_dump

CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
OTHER = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "ns"}}


def read(text):
    return read_dump(text.encode(), "dump.yaml")


def test_documents_and_lists_are_taken_apart_with_their_places():
    text = """\
# a comment
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: p, namespace: ns}
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: c}
---
"""
    found = read(text)
    assert [item.value for item in found] == [CONFIG_MAP, OTHER, CONFIG_MAP]
    assert [item.place for item in found] == ["dump.yaml, line 2", "dump.yaml, line 9", "dump.yaml, line 12"]


def test_json_and_lists_of_one_kind_whose_items_name_none():
    items = [{"metadata": {"name": "p", "namespace": "ns"}}]
    text = json.dumps({"apiVersion": "v1", "kind": "PodList", "metadata": {}, "items": items}, indent=1)
    assert [item.value for item in read(text)] == [OTHER]


def test_yaml_is_read_as_kubectl_reads_it():
    (found,) = read('{apiVersion: v1, kind: ConfigMap, metadata: {name: c, labels: {on: "off", x: 010}}}')
    assert found.value["metadata"]["labels"] == {"true": "off", "x": 8}


def test_an_empty_list_holds_nothing():
    assert read("apiVersion: v1\nkind: List\nitems: []\n") == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [1\n", "dump.yaml, line 2 can't be read: "),
        ("a: 1\n---\nb: {\n", "dump.yaml, line 4 can't be read: "),
        ("- 1\n", "dump.yaml, line 1 holds no Kubernetes object"),
        ("hello\n", "dump.yaml, line 1 holds no Kubernetes object"),
        ("kind: Pod\nmetadata: {name: p}\n", "dump.yaml, line 1 holds an object without apiVersion"),
        ("apiVersion: v1\nmetadata: {name: p}\n", "dump.yaml, line 1 holds an object without kind"),
        (
            "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: p}\n",
            "dump.yaml, line 1 holds items without kind, as a List of kubectl that was cut off; dump it again",
        ),
        ("apiVersion: v1\nkind: Pod\n", "dump.yaml, line 1 holds a Pod without metadata.name"),
        (
            "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n",
            "dump.yaml, line 4 holds a Pod without metadata.name",
        ),
        ("apiVersion: v1\nkind: List\nitems:\n- 7\n", "dump.yaml, line 4 holds no Kubernetes object"),
    ],
)
def test_what_cannot_be_read_is_one_sentence_with_the_place(text, said):
    with pytest.raises(DumpUnreadableError) as caught:
        read(text)
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text():
    with pytest.raises(DumpUnreadableError, match=r"dump\.yaml can't be read: it is no UTF-8 text"):
        read_dump(b"\xff\xfe", "dump.yaml")


@pytest.mark.parametrize("value", ["*hunter2", "!!int hunter2", '"hunter2\\q"', "hunter2: x", "%hunter2", "@hunter2"])
def test_no_message_quotes_a_value_since_it_may_be_a_secret(value):
    text = f"apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\nstringData:\n  password: {value}\n"
    with pytest.raises(DumpUnreadableError) as caught:
        read_dump(text.encode(), "dump.yaml")
    assert "hunter2" not in str(caught.value)
