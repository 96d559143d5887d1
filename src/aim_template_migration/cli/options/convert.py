"""Options of ``convert``."""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from aim_template_migration.cli.failures import wrong_usage
from aim_template_migration.cli.options.shared import ConnectionArguments, declare_connection, read_connection
from aim_template_migration.cli.options.values import file_path

Output = Literal["yaml", "json"]


@dataclass(frozen=True, slots=True)
class ConvertArguments:
    """What ``convert`` was asked.

    Attributes:
        inputs: files, directories, and ``-`` for standard input.
        values: a file of values that the manifests lack, None for none.
        plan: the plan whose cutover the manifests follow, None to convert by the guide's recipes.
        result: the result of the plan's commit, None for the default beside the plan.
        from_cluster: look up what the input lacks in the cluster.
        namespace: the namespace of objects that state none.
        inline: put base image and derived profiles of a custom model into one AIMModel.
        in_place: replace the files.
        file: write to this file, None for standard output.
        check: write nothing, and say which files would change.
        diff: write the differences.
        ledger: where the loss ledger goes, None for nowhere.
        output: how the answer is written.
        connection: how to reach the cluster.
    """

    inputs: tuple[str, ...]
    values: Path | None
    plan: Path | None
    result: Path | None
    from_cluster: bool
    namespace: str
    inline: bool
    in_place: bool
    file: Path | None
    check: bool
    diff: bool
    ledger: Path | None
    output: Output
    connection: ConnectionArguments


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.usage = "%(prog)s FILE|DIR|- ... [options]"
    parser.add_argument(
        "inputs", nargs="+", metavar="PATH", help="file, directory with all below it, or - for standard input"
    )
    _declare_knowledge(parser.add_argument_group("what manifests lack"))
    _declare_writing(parser.add_argument_group("what is written"))
    declare_connection(parser)
    group = parser.add_argument_group("output")
    group.add_argument(
        "-o",
        "--output",
        choices=("yaml", "json"),
        default="yaml",
        help="yaml keeps the text, json prints one object or a List (default: yaml)",
    )
    group.add_argument("--no-color", action="store_true", help="no colour; the variable NO_COLOR does the same")
    group.add_argument(
        "-v", "--verbose", action="store_true", help="details on stderr, and tracebacks of unexpected errors"
    )


def _declare_knowledge(group: "argparse._ArgumentGroup") -> None:
    group.add_argument(
        "--values", type=file_path, metavar="FILE", help="values by object: image, aimId, modelSources, baseImage, ..."
    )
    group.add_argument(
        "--from-cluster",
        action="store_true",
        help="look up models, templates and runtime configs that the input does not have",
    )
    group.add_argument(
        "--plan",
        type=Path,
        metavar="PLAN",
        help="write the manifests of a cluster after the commit of this plan, so that Git can follow it",
    )
    group.add_argument(
        "--result",
        type=file_path,
        metavar="FILE",
        help="result of that commit (default: apply-result.json beside the plan)",
    )
    group.add_argument("-n", "--namespace", default="", metavar="NS", help="namespace of objects that state none")
    group.add_argument(
        "--inline",
        action="store_true",
        help="one AIMModel for base image and derived profiles of a custom model; some servers refuse that",
    )


def _declare_writing(group: "argparse._ArgumentGroup") -> None:
    where = group.add_mutually_exclusive_group()
    where.add_argument("--in-place", action="store_true", help="replace the files, each in one step")
    where.add_argument("--file", type=file_path, metavar="FILE", help="write to FILE instead of standard output")
    group.add_argument("--check", action="store_true", help="write nothing; exit 3 if a file would change")
    group.add_argument("--diff", action="store_true", help="write the differences instead of the manifests")
    group.add_argument("--ledger", type=file_path, metavar="FILE", help="write what became of every field, as JSON")


def read(parsed: argparse.Namespace) -> ConvertArguments:
    """Return the options.

    Raises:
        CommandStopped: options exclude each other.
    """
    looks = parsed.check or parsed.diff
    if looks and (parsed.in_place or parsed.file):
        raise wrong_usage("--check and --diff write no manifests", hint="leave out --in-place and --file")
    if parsed.output == "json" and (looks or parsed.in_place):
        raise wrong_usage("-o json prints all objects, and no files or differences", hint="leave out -o json")
    if parsed.in_place and "-" in parsed.inputs:
        raise wrong_usage("standard input can't be written in place", hint="name files, or leave out --in-place")
    if parsed.plan and (parsed.values or parsed.from_cluster or parsed.inline):
        raise wrong_usage(
            "--plan writes what the commit wrote, so --values, --from-cluster and --inline have nothing to add",
            hint="use them for manifests that no plan migrates",
        )
    if parsed.result and not parsed.plan:
        raise wrong_usage("--result belongs to a plan", hint="add --plan")
    return ConvertArguments(
        inputs=tuple(parsed.inputs),
        values=parsed.values,
        plan=parsed.plan,
        result=parsed.result,
        from_cluster=parsed.from_cluster,
        namespace=parsed.namespace,
        inline=parsed.inline,
        in_place=parsed.in_place,
        file=parsed.file,
        check=parsed.check,
        diff=parsed.diff,
        ledger=parsed.ledger,
        output=parsed.output,
        connection=read_connection(parsed),
    )
