import pytest
import yaml

from aim_template_migration.manifests.scalars import ScalarError, key_text, plain_value, resolve
from tests.aim_template_migration.manifests.kubectl import data_of, read_by_kubectl, with_scalars

READ = {
    **dict.fromkeys(("yes", "Yes", "y", "Y", "on", "ON", "true", "True", "TRUE"), True),
    **dict.fromkeys(("no", "NO", "n", "N", "off", "Off", "false", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    "0755": 493,
    "0o755": 493,
    "0O17": 15,
    "-07": -7,
    "0_7": 7,
    "0b11": 3,
    "-0b11": -3,
    "0x1F": 31,
    "+0x1F": 31,
    "08": 8,
    "+08": 8,
    "0_8": 8,
    "08.5": 8.5,
    "1e3": 1000,
    "12e03": 12000,
    "1E-2": 0.01,
    "3.0e2": 300,
    "1.0": 1,
    "1.": 1,
    ".5": 0.5,
    "+.5": 0.5,
    ".5e1": 5,
    ".1_0": 0.1,
    "-0": 0,
    "1_000": 1000,
    "1_": 1,
    "1_000_000.5": 1000000.5,
    "1e20": 100000000000000000000,
    "1e21": 1e21,
    "9223372036854775807": 9223372036854775807,
    "0777777777777777777777777": 7.777777777777778e23,
    "!!str 123": "123",
    "!!float 3": 3,
    "!!int 0b11": 3,
    '!!int "3"': 3,
    '!!bool "yes"': True,
    "!!binary aGVsbG8=": "hello",
    "!!timestamp 2026-03-01": "2026-03-01",
    "!other 3": "3",
    "! 3": "3",
    '"yes"': "yes",
    "'1e3'": "1e3",
}
TEXT = (
    "12:30:45",
    "1:20",
    "2026-03-01",
    "2026-03-01T10:00:00Z",
    "=",
    ".",
    "..",
    "._1",
    ".0_",
    "_1",
    "+",
    "--",
    "1e",
    "e1",
    "0b2",
    "0b",
    "0x",
    "0o",
    "0xg",
    "1.2.3",
    "0x1p3",
    "1e400",
    "0xffffffffffffffffff",
    "4Gi",
    "500m",
    "inf",
    "nan",
    "yEs",
    "nUll",
    "T",
    "tRue",
    "1,000",
    "a:b",
    "٣",
)
REFUSED = (
    ".inf",
    "-.Inf",
    ".nan",
    "!!int 1e3",
    "!!int 08",
    "!!int 1.5",
    "!!bool foo",
    "!!float foo",
    "!!null foo",
    "!!binary ???",
)


def read(text: str) -> object:
    scalar = [
        event for event in yaml.parse(f"x: {text}", Loader=yaml.CSafeLoader) if isinstance(event, yaml.ScalarEvent)
    ][1]
    return resolve(scalar.value, scalar.tag, plain=not scalar.style)


@pytest.mark.parametrize("text", READ)
def test_it_is_read_as_kubectl_reads_it(text: str) -> None:
    value = read(text)
    assert value == READ[text]
    assert type(value) is type(READ[text])


@pytest.mark.parametrize("text", TEXT)
def test_it_is_text(text: str) -> None:
    assert read(text) == text


@pytest.mark.parametrize("text", REFUSED)
def test_it_is_refused(text: str) -> None:
    with pytest.raises(ScalarError):
        read(text)


def test_whole_numbers_stay_exact_where_kubectl_rounds_them() -> None:
    assert plain_value("123456789012345678901234567890") == 123456789012345678901234567890
    assert plain_value("18446744073709551615") == 18446744073709551615
    assert plain_value("9" * 5000) == "9" * 5000


@pytest.mark.parametrize(("value", "key"), [("a", "a"), (True, "true"), (False, "false"), (1, "1"), (1.5, "1.5")])
def test_keys_are_text(value: object, key: str) -> None:
    assert key_text(value) == key  # type: ignore[arg-type]


def test_a_key_without_text_is_refused() -> None:
    with pytest.raises(ScalarError):
        key_text(None)


@pytest.mark.kubectl
@pytest.mark.kubectl
def test_kubectl_agrees() -> None:
    expected = {**READ, **{text: text for text in TEXT}}
    found = read_by_kubectl(with_scalars(list(expected)))
    assert isinstance(found, list), found
    assert [data_of(item) for item in found] == list(expected.values())


@pytest.mark.kubectl
@pytest.mark.kubectl
@pytest.mark.parametrize("text", REFUSED)
def test_kubectl_refuses_too(text: str) -> None:
    assert isinstance(read_by_kubectl(with_scalars([text])), str)
