import pytest

from aim_template_migration.cli.exit_codes import EXIT_CODES, first_of
from aim_template_migration.cli.parser import exit_code_lines


def test_the_table_stands_in_the_order_of_precedence():
    assert [code.number for code in EXIT_CODES] == [130, 1, 5, 3, 4, 2, 0]


@pytest.mark.parametrize(
    ("numbers", "expected"), [((0, 3), 3), ((4, 3), 3), ((3, 5), 5), ((5, 1), 1), ((130, 1), 130), ((0,), 0)]
)
def test_the_first_that_applies_is_returned(numbers, expected):
    assert first_of(*numbers) == first_of(*reversed(numbers)) == expected


def test_an_unlisted_code_is_a_mistake():
    with pytest.raises(ValueError, match="7"):
        first_of(0, 7)


def test_help_lists_every_code_in_that_order(aim):
    ran = aim("--help")
    assert ran.code == 0
    assert exit_code_lines() in ran.out
    numbers = [line.split()[0] for line in exit_code_lines().splitlines() if line[:7].strip()]
    assert numbers == [str(code.number) for code in EXIT_CODES]
