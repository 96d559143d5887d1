"""``python -m benchmarks [NAMES…]``: measures, prints the figures, and keeps them where asked."""

import argparse
import sys
from pathlib import Path

from benchmarks.figures import RESULTS, finished, merge_runs, read_runs
from benchmarks.registry import Benchmark, Size, every_benchmark
from benchmarks.table import PAGE, page, rows


def main() -> int:
    """Run the command line; return 1 where a figure is not reached."""
    known = every_benchmark()
    arguments = _parser(known).parse_args()
    unknown = [name for name in arguments.names if name not in known]
    if unknown:
        print(f"error: no benchmark is named {unknown[0]}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    if arguments.table:
        PAGE.write_text(page(read_runs(RESULTS).values()))
        return 0
    reached = True
    for name in arguments.names or known:
        reached &= _measure(known[name], size="quick" if arguments.quick else "full", results=arguments.json)
    return 0 if reached else 1


def _measure(benchmark: Benchmark, *, size: Size, results: Path | None) -> bool:
    print(f"\n{benchmark.name}: {benchmark.what}", flush=True)
    figures = []
    for line, figure in enumerate(benchmark.run(size)):
        figures.append(figure)
        print("\n".join(list(rows([figure]))[2 if line else 0 :]), flush=True)
    run = finished(benchmark.name, benchmark.what, tuple(figures), size=size)
    if results:
        merge_runs(results, {benchmark.name: run})
    return all(figure.reached is not False for figure in figures)


def _parser(known: dict[str, Benchmark]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which to run; all by default: {', '.join(known)}")
    parser.add_argument("--quick", action="store_true", help="smaller sizes, to see that everything works")
    parser.add_argument("--json", type=Path, metavar="FILE", help="put the figures into a results file, by benchmark")
    parser.add_argument("--table", action="store_true", help=f"measure nothing; write {PAGE.name} from {RESULTS.name}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
