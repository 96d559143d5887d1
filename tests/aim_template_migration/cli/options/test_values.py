import argparse

import pytest

from aim_template_migration.cli.failures import CommandStopped
from aim_template_migration.cli.options.values import (
    cutover_deadline,
    duration,
    explicit_namespaces,
    positive,
    sha256,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30s", 30), ("2m", 120), ("1h30m", 5400), ("500ms", 0.5), ("1.5s", 1.5), ("0", 0), ("45", 45), ("0s", 0)],
)
def test_durations_are_those_of_kubectl(text, seconds):
    assert duration(text) == seconds


@pytest.mark.parametrize("text", ["", "s", "-1s", "1 s", "1d", "30sec", "1s2", "\u0661s"])
def test_other_durations_are_refused(text):
    with pytest.raises(argparse.ArgumentTypeError, match="duration"):
        duration(text)


@pytest.mark.parametrize("text", ["0s", "10m1s", "1h"])
def test_a_cutover_takes_at_most_ten_minutes(text):
    with pytest.raises(argparse.ArgumentTypeError, match="10m"):
        cutover_deadline(text)
    assert cutover_deadline("10m") == 600


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "many", ""])
def test_counts_start_at_one(text):
    with pytest.raises(argparse.ArgumentTypeError):
        positive(text)


def test_a_sha256_has_64_digits():
    assert sha256("AB" * 32) == "ab" * 32
    with pytest.raises(argparse.ArgumentTypeError, match="64"):
        sha256("ab" * 31)


def test_namespaces_keep_their_order_and_come_once():
    assert explicit_namespaces(["b", "a", "b"], every=False) == ("b", "a")


@pytest.mark.parametrize(
    ("given", "every", "words"),
    [
        (None, False, "default namespace is never used"),
        (["a"], True, "all namespaces"),
        (["*"], False, "all namespaces"),
        ([""], False, "empty"),
        (["a,b"], False, "'a,b'"),
        (["Team-A"], False, "'Team-A'"),
        (["../etc"], False, "'../etc'"),
        (["a" * 64], False, "no name"),
    ],
)
def test_only_explicit_namespaces_are_taken(given, every, words):
    with pytest.raises(CommandStopped) as stopped:
        explicit_namespaces(given, every=every)
    assert words in str(stopped.value)
    assert stopped.value.exit_code == 2
    assert "--namespace" in stopped.value.hint


@pytest.mark.parametrize("path", ["/", ".", "..", "", "plans/", "plans/.."])
@pytest.mark.parametrize(
    "command",
    [
        ["apply", "--plan", "p", "--result"],
        ["apply", "--plan", "p", "--baseline"],
        ["inspect", "--plan", "p", "--result"],
        ["verify", "--plan", "p", "--emit-script"],
        ["report", "--plan", "p", "--file"],
        ["convert", "m.yaml", "--file"],
        ["convert", "m.yaml", "--ledger"],
        ["handoff", "check", "--evidence"],
    ],
    ids=" ".join,
)
def test_a_path_that_names_no_file_is_wrong_usage(aim, command, path):
    ran = aim(*command, path)
    assert (ran.code, ran.out) == (2, "")
    assert "names no file" in ran.err
