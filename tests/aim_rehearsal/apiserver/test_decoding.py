import pytest

from aim_rehearsal.apiserver.decoding import DecodeError, decode_json, decode_object


def test_repeated_fields_are_named_with_their_paths_and_the_last_counts():
    value, repeated = decode_json(b'{"a":{"b":1,"b":2},"l":[{"c":1,"c":2}],"a":{"b":3}}')
    assert value == {"a": {"b": 3}, "l": [{"c": 2}]}
    assert repeated == ["a.b", "l[0].c", "a"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"1.0", 1),
        (b"1e3", 1000),
        (b"1.5", 1.5),
        (b"9223372036854775807", 9223372036854775807),
        (b"12345678901234567890", 12345678901234567000),
        (b'"\\ud800"', "?"),
    ],
)
def test_numbers_and_text_become_what_go_makes_of_them(text, value):
    decoded, _ = decode_json(b'{"x":' + text + b"}")
    assert decoded["x"] == value
    assert type(decoded["x"]) is type(value)


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (b"", "unexpected end of JSON input"),
        (b'{"a":', "unexpected end of JSON input"),
        (b'{"a"', "unexpected end of JSON input"),
        (b"nonsense", "invalid character 'n' looking for beginning of value"),
        (b'{"a" 1}', "invalid character '1' after object key"),
        (b'{"a":1 "b"}', "invalid character '\"' after object key:value pair"),
        (b"[1 2]", "invalid character '2' after array element"),
        (b"{} {}", "invalid character '{' after top-level value"),
        (b"{a:1}", "invalid character 'a' looking for beginning of object key string"),
        (b'{"a":NaN}', "invalid character 'N' looking for beginning of value"),
        (b'{"a":1e999}', "json: cannot unmarshal number 1e999 into Go value of type float64"),
        (b'{"a":' * 100_000, "exceeded max depth"),
        (b"[" * 100_000, "json: cannot unmarshal array into Go value of type map[string]interface {}"),
    ],
)
def test_complaints(body, complaint):
    with pytest.raises(DecodeError) as failure:
        decode_json(body)
    assert str(failure.value) == complaint


def test_other_values_are_no_objects():
    with pytest.raises(DecodeError, match="cannot unmarshal array"):
        decode_object(b"[]")


def test_yaml_is_read_with_timestamps_as_text_and_repeated_keys_noted():
    value, repeated = decode_object(b"a: 2026-01-02\nb: yes\nc: [1, 2]\nd: x\nd: z\n", as_yaml=True)
    assert value == {"a": "2026-01-02", "b": True, "c": [1, 2], "d": "z"}
    assert repeated == ['line 5: key "d" already set in map']


def test_yaml_that_is_none():
    with pytest.raises(DecodeError, match=r"^yaml: line 2: mapping values are not allowed"):
        decode_object(b"a: b\nc: d: e\n", as_yaml=True)
