"""The typed readers of JSON trees."""

import pytest

from aim_api.tree import key_of_pointer_part, pointer_part


@pytest.mark.parametrize(
    ("key", "part"),
    [("plain", "plain"), ("a.example/b", "a.example~1b"), ("a~b", "a~0b"), ("~1", "~01"), ("/~/", "~1~0~1")],
)
def test_a_key_becomes_a_pointer_part_and_back(key, part):
    assert pointer_part(key) == part
    assert key_of_pointer_part(part) == key
