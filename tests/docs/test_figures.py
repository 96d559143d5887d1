"""The page of figures is made from the committed results, and says what they say."""

import re
from pathlib import Path

from benchmarks.figures import RESULTS, Figure, read_runs
from benchmarks.registry import every_benchmark
from benchmarks.table import PAGE, page, rows


def test_the_page_is_generated_from_the_committed_results():
    """After a run: ``python -m benchmarks --json benchmarks/results.json``, then ``python -m benchmarks --table``."""
    assert PAGE.read_text(encoding="utf-8") == page(read_runs(RESULTS).values())


def test_every_result_is_of_a_benchmark_that_there_is_and_of_its_full_size():
    runs = read_runs(RESULTS)
    assert runs
    assert runs.keys() <= every_benchmark().keys()
    assert all(run.size == "full" and run.figures for run in runs.values())


def test_pages_name_benchmarks_that_there_are():
    root = Path(__file__).parents[2]
    pages = [root / "benchmarks" / "README.md", *(root / "docs").rglob("*.md")]
    lines = [
        line for path in pages for line in re.findall(r"python -m benchmarks( [^`#&\n]*)?", path.read_text("utf-8"))
    ]
    # What follows --json is a file, and no other option has a value.
    named = {word for line in lines for word in re.sub(r"--json \S+|--\w+", "", line).split()}
    assert named
    assert named <= every_benchmark().keys()


def test_results_name_no_path_and_no_host():
    text = RESULTS.read_text(encoding="utf-8")
    assert all(word not in text for word in ("/home/", "/root/", "/tmp/", "127.0.0.1"))


def test_a_figure_is_judged_by_its_ratio_or_by_its_value():
    by_ratio = Figure("a", 4.0, "s", 2.0, "peer", 1.5)
    by_value = Figure("b", 4.0, "MB", 2.0, "peer", 5.0, limit_of="value")
    unjudged = Figure("c", 4.0, "s", 2.0, "peer")
    alone = Figure("d", 4.0, "s")
    assert [item.reached for item in (by_ratio, by_value, unjudged, alone)] == [False, True, None, None]
    assert [item.ratio for item in (by_ratio, alone)] == [2.0, None]
    cells = [row.split("|")[1:-1] for row in rows([by_ratio, by_value, unjudged, alone])][2:]
    assert [(cell[3].strip(), cell[5].strip()) for cell in cells] == [
        ("2.00", "**no**"),
        ("2.00", "yes"),
        ("2.00", ""),
        ("", ""),
    ]
