"""``convert``: v1alpha1 manifests become v1alpha2 manifests, and everything else stays as it is."""

import argparse
import difflib
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from aim_template_migration.cli.console import Console
from aim_template_migration.cli.exit_codes import DONE, FINDINGS
from aim_template_migration.cli.failures import not_started, not_started_by, wrong_usage
from aim_template_migration.cli.options.convert import ConvertArguments, read
from aim_template_migration.cli.rendering.text import count
from aim_template_migration.cli.work_tree import work_tree_warning
from aim_template_migration.cycle_collection import without_cycle_collection
from aim_template_migration.documents import private_files
from aim_template_migration.documents.conversion import ConversionLedger, LedgerFault
from aim_template_migration.documents.private_files import PrivateFileError
from aim_template_migration.manifests.converting import Conversion, ConvertedFile, Options, convert_files
from aim_template_migration.manifests.files import FileError, InputFile, Inputs, read_inputs, replace_in_place
from aim_template_migration.manifests.findings import findings_of
from aim_template_migration.manifests.given_values import ValuesError, parse_values, superfluous
from aim_template_migration.manifests.joining import joined
from aim_template_migration.manifests.located import ManifestFile
from aim_template_migration.manifests.nodes import ReadError
from aim_template_migration.manifests.objects import objects_of
from aim_template_migration.manifests.reading import ManifestText, read_manifest
from aim_template_migration.mapping.recipes.context import (
    Live,
    LiveModels,
    Values,
    no_models_live,
    nothing_live,
)
from aim_template_migration.mapping.recipes.conversion import is_aim_object

if TYPE_CHECKING:
    from aim_api.tree import Json

_NOT_WRITTEN = ", so it is neither converted nor written"
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


# What a cluster or a plan needs is costly to import, and few conversions do.


def run(parsed: argparse.Namespace, console: Console) -> int:
    """Convert; return 0, or 3 where something was lost, is needed, would change or could not be replaced.

    Raises:
        CommandStopped: something that was named can't be read.
    """
    arguments = read(parsed)
    inputs = _inputs(arguments)
    with without_cycle_collection():
        return _converted_inputs(arguments, inputs, console)


def _converted_inputs(arguments: ConvertArguments, inputs: Inputs, console: Console) -> int:
    files, faults = read_manifests(inputs, _NOT_WRITTEN)
    if arguments.plan is None:
        conversion = _converted(arguments, files, console)
    else:
        from aim_template_migration.cli.followed_plan import follow

        conversion = follow(files, arguments.plan, arguments.result, arguments.namespace, console)
    ledger = msgspec.structs.replace(conversion.ledger, faults=(*faults, *conversion.ledger.faults))
    for finding in findings_of(ledger):
        console.note(str(finding))
    if arguments.ledger:
        _write_ledger(arguments.ledger, ledger, console)
    for reason in inputs.refused:
        console.note(f"{console.paint_note('error:', 'red')} {reason}")
    if not any(is_aim_object(place.value) for file in files for place in objects_of(file.manifest)):
        console.note("no object of the AIM API was found, so nothing was converted")
    sound = ledger.complete and not inputs.refused
    return _written(arguments, inputs, conversion, console, sound=sound)


def _inputs(arguments: ConvertArguments) -> Inputs:
    try:
        inputs = read_inputs(arguments.inputs, follow_links=not arguments.in_place)
    except FileError as error:
        raise not_started(str(error)) from error
    for path in (arguments.file, arguments.ledger):
        if path is not None and any(file.path is not None and _same_file(file.path, path) for file in inputs.files):
            raise wrong_usage(f"{path} is one of the manifests", hint="use --in-place to replace manifests")
    return inputs


def _same_file(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def read_manifests(inputs: Inputs, consequence: str = "") -> tuple[list[ManifestFile], tuple[LedgerFault, ...]]:
    """Read the files; for one that is no text there is a fault, with what follows from it."""
    files, faults = [], []
    for file in inputs.files:
        try:
            files.append(ManifestFile(file.name, read_manifest(file.data)))
        except ReadError as error:
            faults.append(LedgerFault(file.name, 1, f"this file can't be read{consequence}: {error}"))
            files.append(ManifestFile(file.name, ManifestText("")))
    return files, tuple(faults)


def _converted(arguments: ConvertArguments, files: Sequence[ManifestFile], console: Console) -> Conversion:
    values = _values(arguments.values, arguments.namespace)
    if not arguments.from_cluster:
        conversion = convert_files(files, _options(arguments, values))
    else:
        from aim_template_migration.cli.live_objects import live_objects

        with live_objects(arguments.connection, arguments.namespace, console) as live:
            conversion = convert_files(files, _options(arguments, values, *live))
    objects = (place.value for file in files for place in objects_of(file.manifest))
    for unused in superfluous(values, objects):
        console.warn(f"{arguments.values}: the values of {unused} were not used; no object of the input needed them")
    return conversion


def _options(
    arguments: ConvertArguments, values: Values, live: Live = nothing_live, live_models: LiveModels = no_models_live
) -> Options:
    return Options(
        values, live, live_models, arguments.inline, arguments.namespace, losses_only=arguments.ledger is None
    )


def _values(path: Path | None, namespace: str) -> Values:
    if path is None:
        return Values()
    try:
        return replace(parse_values(path.read_bytes()), namespace=namespace)
    except OSError as error:
        raise not_started(f"{path} can't be read: {(error.strerror or str(error)).lower()}") from error
    except ValuesError as error:
        raise not_started(f"{path} is no file of values: {error}") from error


def _write_ledger(path: Path, ledger: ConversionLedger, console: Console) -> None:
    data = msgspec.json.format(msgspec.json.encode(ledger), indent=2) + b"\n"
    _replace_private(path, data)
    warning = work_tree_warning(path)
    if warning:
        console.warn(warning)


def _written(
    arguments: ConvertArguments, inputs: Inputs, conversion: Conversion, console: Console, *, sound: bool
) -> int:
    changed = [file for file in conversion.files if file.changed]
    if arguments.check or arguments.diff:
        _look(arguments, changed, console)
        sound = sound and not (arguments.check and changed)
    elif arguments.in_place:
        sound = _replace(inputs.files, conversion.files, console) and sound
    else:
        as_json = arguments.output == "json"
        _answer(arguments.file, _objects(conversion.files) if as_json else _joined(conversion.files), console)
        absent = sum(len(file.file.manifest.unreadable) for file in conversion.files) if as_json else 0
        if absent:
            console.warn(f"{count(absent, 'part')} that can't be read {'is' if absent == 1 else 'are'} not in the JSON")
    return DONE.number if sound else FINDINGS.number


def _look(arguments: ConvertArguments, changed: Sequence[ConvertedFile], console: Console) -> None:
    for file in changed:
        if arguments.diff:
            console.exactly(_difference(file))
        else:
            console.answer(f"{file.file.name} would change")


def _difference(file: ConvertedFile) -> str:
    old, new = _LINE.findall(file.file.manifest.text), _LINE.findall(file.text)
    lines = difflib.unified_diff(old, new, file.file.name, file.file.name)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _replace(inputs: Sequence[InputFile], files: Sequence[ConvertedFile], console: Console) -> bool:
    """Replace what changed; return whether all of that could be replaced."""
    replaced = 0
    refused: list[str] = []
    for file, converted in zip(inputs, files, strict=True):
        if not converted.changed:
            continue
        try:
            replace_in_place(file, converted.data)
            replaced += 1
        except FileError as error:
            refused.append(str(error))
    for reason in refused:
        console.note(f"{console.paint_note('error:', 'red')} {reason}")
    console.note(f"replaced {count(replaced, 'file')} of {len(files)}")
    return not refused


def _joined(files: Sequence[ConvertedFile]) -> str:
    """Return the files one after the other; a single one with the byte order mark that it had."""
    texts = [converted.text for converted in files]
    return files[0].data.decode() if len(files) == 1 else joined(texts)


def _objects(files: Sequence[ConvertedFile]) -> str:
    """Return all objects as JSON: one object, or a List."""
    objects: list[Json] = [value for file in files for value in file.objects()]
    whole: Json = objects[0] if len(objects) == 1 else {"apiVersion": "v1", "kind": "List", "items": objects}
    return f"{json.dumps(whole, indent=2, ensure_ascii=False)}\n"


def _answer(path: Path | None, text: str, console: Console) -> None:
    if path is None:
        console.exactly(text)
        return
    _replace_private(path, text.encode())


def _replace_private(path: Path, data: bytes) -> None:
    try:
        private_files.replace(path, data)
    except PrivateFileError as error:
        raise not_started_by(error) from error
