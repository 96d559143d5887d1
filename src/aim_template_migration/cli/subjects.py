"""From the options of ``rehearse`` to what is rehearsed: a world, a generated fleet, a copied cluster, or files."""

import sys
from collections.abc import Callable
from pathlib import Path

from aim_rehearsal.worlds import WorldError, fleet, load_world
from aim_template_migration.cli.console import Console
from aim_template_migration.cli.failures import not_started, wrong_usage
from aim_template_migration.cli.options.rehearse import RehearseArguments
from aim_template_migration.cli.parser import PROG
from aim_template_migration.cli.rendering.text import count
from aim_template_migration.cli.translation import open_cluster
from aim_template_migration.manifests.dumps import DumpUnreadableError, read_dump
from aim_template_migration.rehearsing.copying import copy_namespaces
from aim_template_migration.rehearsing.dumped import Dumped, DumpError, dumped_subject
from aim_template_migration.rehearsing.subject import Subject


def subject_of(arguments: RehearseArguments, console: Console) -> Subject:
    """Return what is rehearsed.

    Raises:
        CommandStopped: there is no such world, or a file can't be rehearsed.
        ClusterError, PlanningError: the caller's cluster can't be read.
    """
    tell = told(console)
    if arguments.namespaces:
        return _copied(arguments, console, tell)
    if arguments.files:
        return _dumped(arguments.files)
    if arguments.fleet is not None:
        namespaces, services = arguments.fleet
        tell(f"generating {count(namespaces * services, 'service')} in {count(namespaces, 'namespace')}")
        return _sample(lambda: Subject(fleet(namespaces, services, seed=arguments.seed)), hint="--fleet 50x20")
    return _sample(lambda: Subject(load_world(arguments.world)), hint=f"{PROG} rehearse --list-worlds")


def told(console: Console) -> Callable[[str], None]:
    """Return what tells a person what is done next; where a program reads, nothing is told."""

    def tell(doing: str) -> None:
        if console.format == "table":
            console.note(f"{doing} …")

    return tell


def _sample(make: Callable[[], Subject], *, hint: str) -> Subject:
    try:
        return make()
    except WorldError as error:
        raise wrong_usage(str(error).rstrip("."), hint=hint) from error


def _copied(arguments: RehearseArguments, console: Console, tell: Callable[[str], None]) -> Subject:
    cluster = open_cluster(arguments.connection, console)
    try:
        tell(f"reading {cluster.server} ({cluster.origin}); nothing is written to it")
        return copy_namespaces(cluster, arguments.namespaces, tell)
    finally:
        cluster.close()


def _dumped(files: tuple[Path, ...]) -> Subject:
    try:
        objects = [
            Dumped(item.value, item.place) for file in files for item in read_dump(_bytes_of(file), _name_of(file))
        ]
        return dumped_subject(objects, [_name_of(file) for file in files])
    except (DumpUnreadableError, DumpError) as error:
        raise not_started(str(error)) from error


def _name_of(file: Path) -> str:
    return "standard input" if str(file) == "-" else str(file)


def _bytes_of(file: Path) -> bytes:
    """Return the bytes of a file, or of standard input for ``-``.

    Raises:
        DumpUnreadableError: it can't be read.
    """
    if str(file) == "-":
        return sys.stdin.buffer.read()
    if file.is_dir():
        raise DumpUnreadableError(f"{file} is a directory; name the files in it, of a plan directory its backup.yaml")
    try:
        return file.read_bytes()
    except OSError as error:
        raise DumpUnreadableError(f"{file} can't be read: {error.strerror}") from error
