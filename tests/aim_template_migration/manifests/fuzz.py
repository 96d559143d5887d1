"""Long runs of the properties of conversions: ``python -m tests.aim_template_migration.manifests.fuzz --count 20000``.

Every input ends in one of three ways: converted whole, converted with something to decide that is named, or a failure
of the tool, of which there may be none. One JSON object on stdout has the counts.
"""

import argparse
import json
import multiprocessing
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aim_api.tree import get_str
from aim_template_migration.mapping.recipes.draft import Draft
from aim_template_migration.mapping.recipes.ledger import LeafFate
from tests.aim_template_migration.manifests import test_properties as text
from tests.aim_template_migration.mapping.recipes import test_properties as mapping
from tests.aim_template_migration.mapping.recipes import test_soundness as soundness

CHUNK = 1000
SOUND_EVERY = 10
"""Of so many inputs through the mapping one is a valid one, whose outcome is compared with the server's rules."""
MOST_FAILURES = 20
COLUMNS = {
    "converted": "converted",
    "unchanged": "stays",
    "needsDecision": "to be decided",
    "refused": "no counterpart",
    "valueNeeded": "value needed",
}
"""The outcomes of an object through the mapping, and what the page about the long run calls them."""


@dataclass(slots=True)
class Counts:
    """What came out.

    Attributes:
        inputs: how many sets of objects, or texts, were converted.
        objects: how many objects stood in them.
        outcomes: how many objects ended in which way, by kind and outcome; one object may have several refusals.
        failures: how many inputs broke a property.
        first: the first failures, with their seeds.
    """

    inputs: int = 0
    objects: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    failures: int = 0
    first: list[str] = field(default_factory=list)

    def add(self, other: "Counts") -> None:
        """Add the counts of another part."""
        self.inputs += other.inputs
        self.objects += other.objects
        self.outcomes += other.outcomes
        self.failures += other.failures
        self.first = [*self.first, *other.first][:MOST_FAILURES]


def outcomes_of(draft: Draft, fates: Sequence[LeafFate]) -> Iterator[str]:
    """Yield how the conversion of one object ended."""
    refusals = {fate.fate.value for fate in fates if fate.lost}
    if draft.gaps:
        refusals.add("valueNeeded")
    yield from refusals or {"unchanged" if draft.unchanged else "converted"}


def convert_one(seed: int, *, texts: bool, counts: Counts) -> None:
    """Convert the input of a seed and count what came out."""
    counts.inputs += 1
    if texts:
        ledger = text.check(seed).ledger
        objects = {entry.object for entry in ledger.entries}
        counts.objects += len(objects)
        lost = {entry.object for entry in ledger.entries if entry.lost}
        counts.outcomes["text refused"] += len(lost)
        counts.outcomes["text converted"] += len(objects - lost)
        return
    found = [*mapping.check(seed), *(soundness.check(seed) if seed % SOUND_EVERY == 0 else [])]
    counts.objects += len(found)
    for draft, fates in found:
        kind = get_str(draft.source, "kind")
        counts.outcomes.update(f"{kind} {outcome}" for outcome in outcomes_of(draft, fates))


def convert_chunk(chunk: tuple[int, int, bool]) -> Counts:
    """Convert the inputs of the seeds from the first to before the second."""
    first, last, texts = chunk
    counts = Counts()
    for seed in range(first, last):
        try:
            convert_one(seed, texts=texts, counts=counts)
        except Exception as error:  # noqa: BLE001 - any exception is a failure of the tool
            counts.failures += 1
            place = traceback.extract_tb(error.__traceback__)[-1]
            sentence = str(error).partition("\n")[0]
            counts.first.append(f"seed {seed}: {type(error).__name__} in {place.name}: {sentence}")
    return counts


def run(count: int, seed: int, jobs: int, *, texts: bool = False, seconds: float = float("inf")) -> Iterator[Counts]:
    """Convert ``count`` inputs from ``seed`` on with ``jobs`` processes, or as many as fit into ``seconds``.

    Yields:
        The counts so far, the same object again and again.
    """
    started = time.monotonic()
    total = Counts()
    chunks = [(at, min(at + CHUNK, seed + count), texts) for at in range(seed, seed + count, CHUNK)]
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        for counts in pool.imap(convert_chunk, chunks):
            total.add(counts)
            sys.stderr.writelines(f"{line}\n" for line in counts.first)
            sys.stderr.write(f"{total.inputs} inputs, {total.failures} failures\n")
            yield total
            if time.monotonic() - started > seconds:
                return


def answer(given: argparse.Namespace, counts: Counts, seconds: float) -> str:
    """Return what is published of a run."""
    found = {
        "through": "text" if given.text else "mapping",
        "seed": given.seed,
        "inputs": counts.inputs,
        "objects": counts.objects,
        "seconds": round(seconds),
        "outcomes": dict(sorted(counts.outcomes.items())),
        "failures": counts.failures,
        "first": counts.first,
    }
    return f"{json.dumps(found, indent=2)}\n"


def table(outcomes: Mapping[str, int]) -> str:
    """Return the table of outcomes as the page about the long run has it."""
    kinds = sorted({outcome.partition(" ")[0] for outcome in outcomes})
    rows = [[kind, *(f"{outcomes.get(f'{kind} {name}', 0):,}" for name in COLUMNS)] for kind in kinds]
    head = f"| kind | {' | '.join(COLUMNS.values())} |\n|---|{'---:|' * len(COLUMNS)}\n"
    return "".join([head, *(f"| {' | '.join(row)} |\n" for row in rows)])


def main(arguments: list[str]) -> int:
    """Run from the command line; return 1 where something failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000, help="how many inputs")
    parser.add_argument("--seed", type=int, default=0, help="the first seed; the others follow it")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--text", action="store_true", help="through text, not only through the mapping")
    parser.add_argument("--file", type=Path, help="write the counts so far to this file, after every thousand inputs")
    parser.add_argument("--table", type=Path, help="print the table of outcomes of the counts in this file instead")
    given = parser.parse_args(arguments)
    if given.table:
        sys.stdout.write(table(json.loads(given.table.read_bytes())["outcomes"]))
        return 0
    started = time.monotonic()
    counts = Counts()
    for counts in run(given.count, given.seed, given.jobs, texts=given.text, seconds=given.seconds):
        if given.file:
            given.file.write_text(answer(given, counts, time.monotonic() - started))
    sys.stdout.write(answer(given, counts, time.monotonic() - started))
    return 1 if counts.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
