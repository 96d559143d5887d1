"""``python -m tests.faults``: plays faults at the points of a run, and says what was violated.

Without options it plays what every change is tried with. It exits 0 if nothing was violated, 1 if something was or the
suite itself could not go on, 2 for wrong usage and 130 after Ctrl-C, which lets the points under way end.
"""

import argparse
import math
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.faults.accounts import Accounts
from tests.faults.campaign import SEVERAL_FAULTS, Choice, classes_of
from tests.faults.families import SEED, WORLDS
from tests.faults.tally import summary
from tests.faults.workers import Workers

_SECONDS = 60.0
_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    options = _options(argv)
    choice = _choice(options)
    if options.list:
        _print_list(choice.name)
        return 0
    directory = Path(tempfile.mkdtemp(prefix="faults-", dir=options.keep))
    accounts, interrupted = _play(choice, options, directory)
    for violated in accounts.total.violated:
        _answer(violated)
    if accounts.total.violated or accounts.troubles:
        _answer(f"the files of the runs are kept in {directory}")
    else:
        shutil.rmtree(directory, ignore_errors=True)
    if not accounts.is_complete:
        _answer("not every point of this choice was played")
    _answer(summary(accounts.total))
    if accounts.total.violations or accounts.troubles:
        return 1
    return _INTERRUPTED if interrupted else 0


def _play(choice: Choice, options: argparse.Namespace, directory: Path) -> tuple[Accounts, bool]:
    """Play the campaign; return the counts, and whether somebody ended it."""
    accounts = Accounts(choice)
    workers = Workers(choice, options.jobs, directory)
    interrupted = []

    def interrupt(number: int, frame: object) -> None:
        interrupted.append(number)
        workers.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupt)
    minutes = options.random or options.at_most or math.inf
    shares = 0 if choice.is_random else len(choice.parts())
    for count, played in enumerate(workers.play(minutes * _SECONDS), start=1):
        part = choice.part(played.number)
        assert part is not None
        accounts.add(part, played)
        place = f"{count} of {shares}" if shares else f"{count}"
        early = "" if played.complete else ", ended early"
        _say(f"[{place}] {part}: {summary(played.tally)}{early}")
        for text in (*played.tally.violated, played.trouble):
            if text:
                _say(text)
        if options.json:
            accounts.write(options.json)
    return accounts, bool(interrupted)


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__.split("\n\n")[1])
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--full", action="store_true", help="every fault at every point of every world")
    which.add_argument(
        "--random", type=_minutes, metavar="MINUTES", help="runs with several faults each, for so many minutes"
    )
    parser.add_argument("--seed", type=int, help=f"seed of the first random run (default {SEED})")
    parser.add_argument("--world", action="append", choices=WORLDS, help="only this world; may be repeated")
    parser.add_argument("--only", action="append", metavar="CLASS", help="only this class of points; may be repeated")
    parser.add_argument(
        "--at-most", type=_minutes, metavar="MINUTES", help="begin no more points after so many minutes"
    )
    parser.add_argument("--jobs", type=_jobs, default=1, metavar="N", help="processes side by side (default 1)")
    parser.add_argument(
        "--thorough",
        action="store_true",
        help="inspect, rerun and verify after every fault, and not only once after each state that faults leave",
    )
    parser.add_argument("--json", type=_file, metavar="FILE", help="write the counts there, after every share")
    parser.add_argument(
        "--keep", type=_directory, metavar="DIR", help="directory for the files of runs (default: the system's)"
    )
    parser.add_argument("--list", action="store_true", help="print the worlds and the classes of points, and play none")
    options = parser.parse_args(argv)
    if options.seed is not None and not options.random:
        parser.error("--seed needs --random: every other campaign plays the same points every time")
    if options.random and options.at_most:
        parser.error("--random already says for how many minutes")
    known = classes_of(_campaign(options))
    for name in options.only or ():
        if name not in known:
            parser.error(f"--only: no class {name!r} in this campaign; the classes are: {', '.join(known)}")
    choice = _choice(options)
    if not choice.is_random and not choice.parts():
        parser.error(f"no {' and no '.join(choice.classes)} is played in {' or '.join(choice.worlds)}")
    return options


def _campaign(options: argparse.Namespace) -> str:
    if options.random:
        return "random"
    return "full" if options.full else "ci"


def _choice(options: argparse.Namespace) -> Choice:
    return Choice(
        name=_campaign(options),
        worlds=tuple(options.world or WORLDS),
        classes=tuple(options.only or ()),
        seed=SEED if options.seed is None else options.seed,
        thorough=options.thorough,
    )


def _print_list(campaign: str) -> None:
    if campaign == "random":
        _answer(f"{SEVERAL_FAULTS}: {', '.join(WORLDS)}")
        return
    parts = {(part.world, part.name) for part in Choice(campaign).parts()}
    for name in classes_of(campaign):
        _answer(f"{name}: {', '.join(world for world in WORLDS if (world, name) in parts)}")


def _answer(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def _minutes(text: str) -> float:
    value = float(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError("must be more than 0")
    return value


def _jobs(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def _file(text: str) -> Path:
    path = Path(text)
    if not path.absolute().parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no directory {path.absolute().parent}")
    return path


def _directory(text: str) -> Path:
    path = Path(text)
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"there is no directory {path}")
    return path


if __name__ == "__main__":
    sys.exit(main())
