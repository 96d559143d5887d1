import pytest

from aim_rehearsal.apiserver.jsonpath import JsonPathError, compile_path

VALUE = {
    "a": {"b.c": 1, "d": [{"type": "Ready", "status": "True"}, {"type": "Other", "status": "False"}]},
    "labels": {"x/y": "z"},
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".a.d[0].type", ["Ready"]),
        (".a.d[-1].type", ["Other"]),
        (".a.d[*].status", ["True", "False"]),
        ('.a.d[?(@.type=="Ready")].status', ["True"]),
        (".a.d[?(@.type=='None')].status", []),
        (".a['b.c']", [1]),
        (r".a.b\.c", [1]),
        ("{.labels.x/y}", ["z"]),
        (".absent.deeper", []),
        (".a.d[9]", []),
    ],
)
def test_paths(path, found):
    assert compile_path(path)(VALUE) == found


@pytest.mark.parametrize("path", [".a[", ".a[?(@.b>1)]", "..a"])
def test_paths_beyond_this_subset(path):
    with pytest.raises(JsonPathError):
        compile_path(path)
