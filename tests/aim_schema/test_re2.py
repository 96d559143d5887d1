"""Patterns mean what they mean to RE2."""

import warnings

import pytest

from aim_schema.re2 import PatternError, compile_pattern


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("^a$", "a\n", False),
        (r"a\z", "ba", True),
        (r"^\pL+$", "é", True),
        (r"^\p{Lu}$", "é", False),
        (r"^\PL$", "1", True),
        (r"^\d$", "٣", False),
        (r"^\w$", "é", False),
        (r"^\s$", "\v", False),
        (r"^[[:alpha:]-]+$", "a-b", True),
        (r"^[^[:^digit:]]$", "5", True),
        (r"^[^\D5]$", "4", True),
        (r"^[^\D5]$", "5", False),
        ("^[]a]$", "]", True),
        ("^[a&&b]$", "&", True),
        ("(?i)^ABC$", "abc", True),
        ("a(?i)b|c", "C", True),
        ("(a(?i)b)c", "aBC", False),
        ("(?s)^.$", "\n", True),
        ("^.$", "\n", False),
        ("(?m)^b$", "a\nb\nc", True),
        ("^a{,2}$", "a{,2}", True),
        (r"^\Qa.b\E$", "a.b", True),
        (r"^\Qa.b\E$", "axb", False),
        (r"^\x{41}\x42\103$", "ABC", True),
        ("(?<name>x)", "x", True),
        (r"\A*a", "a", True),
        (r"^\B$", "", True),
        (r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "my-name", True),
    ],
)
def test_a_pattern_matches_what_re2_matches(pattern: str, text: str, matches: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (compile_pattern(pattern).search(text) is not None) == matches


def test_the_ungreedy_flag_swaps_the_quantifiers() -> None:
    assert [compile_pattern(pattern).findall("aaa")[0] for pattern in ("(?U)a+", "(?U)a+?", "a+?")] == ["a", "aaa", "a"]


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        ("(?!a)", "invalid or unsupported Perl syntax: `(?!`"),
        ("(?>a)", "invalid or unsupported Perl syntax: `(?>`"),
        (r"(a)\1", r"invalid escape sequence: `\1`"),
        ("a**", "invalid nested repetition operator: `**`"),
        ("a*+", "invalid nested repetition operator: `*+`"),
        ("a{2}{3}", "invalid nested repetition operator: `{2}{3}`"),
        ("a{1001}", "invalid repeat count: `{1001}`"),
        ("*a", "missing argument to repetition operator: `*`"),
        ("(a", "missing closing ): `(a`"),
        ("a)", "unexpected ): `a)`"),
        ("[a", "missing closing ]: `[a`"),
        ("[b-a]", "invalid character class range: `b-a`"),
        (r"\p{Nope}", r"invalid character class range: `\p{Nope}`"),
        (r"\y", r"invalid escape sequence: `\y`"),
        ("a\\", "trailing backslash at end of expression: ``"),
    ],
)
def test_what_re2_refuses_is_refused_in_its_words(pattern: str, problem: str) -> None:
    with pytest.raises(PatternError) as caught:
        compile_pattern(pattern)
    assert str(caught.value) == f"error parsing regexp: {problem}"
