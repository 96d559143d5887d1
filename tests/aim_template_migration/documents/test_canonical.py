"""Equal values give equal bytes."""

from hypothesis import given
from hypothesis import strategies as st

from aim_template_migration.documents.canonical import canonical_bytes, digest, digest_bytes

SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10)


def reordered(value):
    if isinstance(value, dict):
        return {key: reordered(value[key]) for key in reversed(list(value))}
    return [reordered(item) for item in value] if isinstance(value, list) else value


@given(VALUES)
def test_the_order_of_keys_does_not_matter(value):
    assert canonical_bytes(value) == canonical_bytes(reordered(value))
    assert digest(value) == digest_bytes(canonical_bytes(value))


@given(VALUES, VALUES)
def test_other_values_have_another_digest(one, other):
    if canonical_bytes(one) != canonical_bytes(other):
        assert digest(one) != digest(other)


def test_a_digest_is_sha256_in_lower_case_hex():
    assert digest({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    assert canonical_bytes({"b": 1, "a": [None, True, "é"]}) == '{"a":[null,true,"é"],"b":1}'.encode()
