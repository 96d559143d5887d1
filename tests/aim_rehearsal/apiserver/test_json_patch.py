import json

import pytest

from aim_rehearsal.apiserver.json_patch import PatchError, apply_json_patch, read_operations


def run(document, patch):
    body = patch if isinstance(patch, bytes) else json.dumps(patch, ensure_ascii=False).encode()
    return apply_json_patch(document, read_operations(body, json.loads(body)))


DOCUMENT = {"a": {"b": [1, 2, 3]}, "s": "x", "n": None, "k/~": 1}


@pytest.mark.parametrize(
    ("operation", "path", "result"),
    [
        ({"op": "add", "path": "/s", "value": "y"}, ("s",), "y"),
        ({"op": "add", "path": "/a/b/1", "value": 9}, ("a", "b"), [1, 9, 2, 3]),
        ({"op": "add", "path": "/a/b/-", "value": 9}, ("a", "b"), [1, 2, 3, 9]),
        ({"op": "add", "path": "/a/b/3", "value": 9}, ("a", "b"), [1, 2, 3, 9]),
        ({"op": "add", "path": "/k~1~0", "value": 2}, ("k/~",), 2),
        ({"op": "replace", "path": "/a/b/0", "value": 9}, ("a", "b"), [9, 2, 3]),
        ({"op": "replace", "path": "/absent", "value": 9}, ("absent",), 9),
        ({"op": "remove", "path": "/a/b/0"}, ("a", "b"), [2, 3]),
        ({"op": "remove", "path": "/a/b/-1"}, ("a", "b"), [1, 2]),
        ({"op": "move", "from": "/a/b/0", "path": "/a/b/2"}, ("a", "b"), [2, 3, 1]),
        ({"op": "copy", "from": "/s", "path": "/a/c"}, ("a", "c"), "x"),
        ({"op": "add", "path": "/s"}, ("s",), None),
    ],
)
def test_operations(operation, path, result):
    before = json.dumps(DOCUMENT)
    found = run(DOCUMENT, [operation])
    for key in path:
        found = found[key]
    assert found == result
    assert json.dumps(DOCUMENT) == before


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/absent"},
        {"op": "remove", "path": "/a/b/3"},
        {"op": "add", "path": "/absent/x", "value": 1},
        {"op": "add", "path": "/a/b/4", "value": 1},
        {"op": "add", "path": "/a/b/x", "value": 1},
        {"op": "replace", "path": "/a/b/3", "value": 1},
        {"op": "add", "path": "/s/x", "value": 1},
        {"op": "move", "from": "/absent", "path": "/s"},
        {"op": "test", "path": "/absent", "value": 1},
        {"op": "test", "path": "/absent/deeper", "value": None},
        {"op": "test", "path": "/s", "value": None},
        {"op": "test", "path": "/a/b/0", "value": True},
        {"op": "test", "path": "/a/b", "value": [1, 2]},
        {"op": "nonsense", "path": "/s"},
        {"op": "add", "value": 1},
        {"path": "/s", "value": 1},
        {"op": "replace", "path": "", "value": 3},
    ],
)
def test_operations_that_cannot_be_carried_out(operation):
    with pytest.raises(PatchError):
        run(DOCUMENT, [operation])


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": "/absent", "value": None},
        {"op": "test", "path": "/absent"},
        {"op": "test", "path": "/n", "value": None},
        {"op": "test", "path": "/a", "value": {"b": [1, 2, 3]}},
        {"op": "test", "path": "", "value": DOCUMENT},
    ],
)
def test_tests_that_pass(operation):
    assert run(DOCUMENT, [operation]) == DOCUMENT


@pytest.mark.parametrize(
    ("stored", "written", "passes"),
    [
        ("a&b", b'"a\\u0026b"', True),
        ("a&b", b'"a&b"', False),
        ("<x>", b'"\\u003cx\\u003e"', True),
        ("<x>", b'"<x>"', False),
        ("\u00e9", '"\u00e9"'.encode(), True),
        ("\u00e9", b'"\\u00e9"', False),
        (1, b"1", True),
        (1, b"1.0", False),
        ({"v": "a&b"}, b'{ "v" : "a\\u0026b" }', True),
        ({"v": "a&b"}, b'{"v":"a&b"}', False),
    ],
)
def test_scalars_are_compared_as_they_are_written(stored, written, passes):
    body = b'[{"op":"test","path":"/x","value":' + written + b"}]"
    if passes:
        run({"x": stored}, body)
    else:
        with pytest.raises(PatchError):
            run({"x": stored}, body)
