import pytest

from aim_rehearsal.apiserver.errors import ApiError
from aim_rehearsal.apiserver.selectors import parse_selectors

OBJECT = {
    "metadata": {"name": "n", "namespace": "ns", "labels": {"app": "x", "tier": "5", "a.b/c": ""}},
    "spec": {"color": "red", "on": True},
}


def matches(**query):
    return parse_selectors(query, ["spec.color", "spec.on", "spec.absent"], custom=True).matches(OBJECT)


@pytest.mark.parametrize(
    ("selector", "result"),
    [
        ("app=x", True),
        ("app==x,tier!=6", True),
        ("app!=x", False),
        ("absent!=x", True),
        ("app in (x, y)", True),
        ("app notin (x,y)", False),
        ("absent notin (x)", True),
        ("app", True),
        ("!app", False),
        ("!absent,app", True),
        ("a.b/c=", True),
        ("tier>4", True),
        ("tier<5", False),
        ("app>1", False),
        ("", True),
    ],
)
def test_label_selectors(selector, result):
    assert matches(labelSelector=selector) is result


@pytest.mark.parametrize(
    ("selector", "result"),
    [
        ("metadata.name=n", True),
        ("metadata.name!=n", False),
        ("metadata.namespace=ns,spec.color=red", True),
        ("spec.color==blue", False),
        ("spec.on=true", True),
        ("spec.absent=", True),
        (r"spec.color=re\,d", False),
    ],
)
def test_field_selectors(selector, result):
    assert matches(fieldSelector=selector) is result


@pytest.mark.parametrize(
    "query",
    [
        {"labelSelector": "app foo"},
        {"labelSelector": "app in x"},
        {"labelSelector": "tier>x"},
        {"fieldSelector": "nonsense"},
        {"fieldSelector": "spec.size=1"},
    ],
)
def test_selectors_that_cannot_be_read(query):
    with pytest.raises(ApiError) as failure:
        matches(**query)
    assert failure.value.code == 400


def test_a_field_that_is_not_selectable_is_named():
    with pytest.raises(ApiError, match=r"field label not supported: spec\.size"):
        matches(fieldSelector="spec.size=1")
