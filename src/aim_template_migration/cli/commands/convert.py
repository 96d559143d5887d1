"""``convert``: v1alpha1 manifests become v1alpha2 manifests, and everything else stays as it is."""

import argparse
import difflib
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import msgspec

from aim_api.kinds import Kind
from aim_api.tree import Json, JsonObject, get_str
from aim_template_migration.applying.plan_files import RESULT_NAME, PlanFiles, read_plan
from aim_template_migration.cli.console import Console
from aim_template_migration.cli.exit_codes import DONE, FINDINGS
from aim_template_migration.cli.failures import CommandStopped, not_started, wrong_usage
from aim_template_migration.cli.options.convert import ConvertArguments, read
from aim_template_migration.cli.rendering.text import count
from aim_template_migration.cli.translation import open_cluster, translated
from aim_template_migration.cli.work_tree import work_tree_warning
from aim_template_migration.cycle_collection import without_cycle_collection
from aim_template_migration.documents import private_files
from aim_template_migration.documents.conversion import ConversionLedger, LedgerFault
from aim_template_migration.documents.result import ResultError, decode_result
from aim_template_migration.kube import Cluster
from aim_template_migration.kube.errors import NotFound, NotServed
from aim_template_migration.manifests.converting import Conversion, ConvertedFile, Options, convert_files
from aim_template_migration.manifests.files import FileError, InputFile, Inputs, read_inputs, replace_in_place
from aim_template_migration.manifests.findings import findings_of
from aim_template_migration.manifests.following import Followed, follow_plan
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

_COMMIT = "commit"
_NOT_WRITTEN = ", so it is neither converted nor written"
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


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
    conversion = _followed(arguments, files, console) if arguments.plan else _converted(arguments, files, console)
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
        with translated():
            cluster = open_cluster(arguments.connection, console)
            try:
                live = _live(cluster, arguments.namespace), _live_models(cluster)
                conversion = convert_files(files, _options(arguments, values, *live))
            finally:
                cluster.close()
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


def _live(cluster: Cluster, namespace: str) -> Live:
    """Return a reader of single objects that asks for each at most once."""
    known: dict[tuple[Kind, str, str], JsonObject | None] = {}

    def look_up(kind: Kind, stated: str, name: str) -> JsonObject | None:
        where = stated or namespace
        if kind.namespaced and not where:
            raise _without_namespace(f"the {kind.name} {name}")
        key = (kind, where if kind.namespaced else "", name)
        if key not in known:
            try:
                known[key] = cluster.get(kind, name, where if kind.namespaced else None)
            except (NotFound, ValueError):
                known[key] = None
        return known[key]

    return look_up


def _live_models(cluster: Cluster) -> LiveModels:
    """Return a reader of models that lists those of a kind and namespace at most once."""

    @cache
    def look_up(kind: Kind, namespace: str) -> Sequence[JsonObject]:
        if kind.namespaced and not namespace:
            raise _without_namespace(f"an {kind.name} by its image")
        try:
            found = cluster.list(kind, namespace if kind.namespaced else None)
        except NotServed:
            return ()
        return sorted(found, key=lambda model: get_str(model, "metadata", "name") or "")

    return look_up


def _without_namespace(what: str) -> CommandStopped:
    return wrong_usage(
        f"{what} can't be looked up: its namespace is stated nowhere",
        hint="name the namespace of such objects with --namespace",
    )


def _followed(arguments: ConvertArguments, files: Sequence[ManifestFile], console: Console) -> Conversion:
    assert arguments.plan is not None
    with translated():
        plan = read_plan(arguments.plan)
    statuses = _statuses(arguments.result, plan)
    if statuses is None:
        console.warn(
            f"there is no result of a commit of {plan.path}, so these are the manifests of after the cutover, not of "
            "the cluster as it is: apply none of them before apply --commit has cut over its unit (--result names the "
            "result)"
        )
    return follow_plan(files, Followed(plan.plan, statuses, arguments.namespace))


def _statuses(named: Path | None, plan: PlanFiles) -> dict[str, str] | None:
    """Return the units' status of a committed run of this plan, None where there was none.

    Raises:
        CommandStopped: the result can't be read, or is one of another plan, whose pins are others.
    """
    path = named or plan.directory / RESULT_NAME
    if named is None and not path.exists():
        return None
    with translated():
        data = private_files.read(path)
    try:
        result = decode_result(data)
    except ResultError as error:
        raise not_started(f"{path} is no result: {error}") from error
    if result.mode != _COMMIT:
        return None
    if result.plan_sha256 != plan.sha256:
        raise not_started(
            f"{path} is the result of a plan with SHA-256 {result.plan_sha256}, and {plan.path} has {plan.sha256}",
            hint="name the plan and the result of one run with --plan and --result",
        )
    return {unit.id: unit.status for unit in result.units}


def _write_ledger(path: Path, ledger: ConversionLedger, console: Console) -> None:
    data = msgspec.json.format(msgspec.json.encode(ledger), indent=2) + b"\n"
    with translated():
        private_files.replace(path, data)
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
    with translated():
        private_files.replace(path, text.encode())
