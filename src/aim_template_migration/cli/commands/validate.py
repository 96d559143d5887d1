"""``validate``: manifests against the definitions and the guide's traps, offline."""

import argparse
import json
from dataclasses import replace

from aim_template_migration.cli.commands.convert import read_manifests
from aim_template_migration.cli.console import Console
from aim_template_migration.cli.exit_codes import DONE, FINDINGS
from aim_template_migration.cli.failures import not_started
from aim_template_migration.cli.options.validate import ValidateArguments, read
from aim_template_migration.cli.rendering.machine import encode
from aim_template_migration.cli.rendering.text import count
from aim_template_migration.cli.rendering.validation import github_lines, report_of, sarif_of, text_lines
from aim_template_migration.cycle_collection import without_cycle_collection
from aim_template_migration.manifests.files import FileError, Inputs, read_inputs
from aim_template_migration.manifests.validating import NOT_CHECKED, validate_files
from aim_template_migration.manifests.violations import Validation, Violation
from aim_template_migration.manifests.whole_files import UNREADABLE


def run(parsed: argparse.Namespace, console: Console) -> int:
    """Validate; return 0 where every object would be taken as it stands, and 3 where there is something to mend.

    Input without objects of the AIM API has nothing to mend: who gives whatever files have changed wants no failure.

    Raises:
        CommandStopped: something that was named can't be read.
    """
    arguments = read(parsed)
    try:
        inputs = read_inputs(arguments.inputs, follow_links=True)
    except FileError as error:
        raise not_started(str(error)) from error
    with without_cycle_collection():
        validation = _without_secrets(_validated(inputs))
    _answer(arguments, validation, console)
    for reason in inputs.refused:
        console.note(f"{console.paint_note('error:', 'red')} {reason}")
    _summary(validation, console)
    return DONE.number if validation.flawless and not inputs.refused else FINDINGS.number


def _validated(inputs: Inputs) -> Validation:
    files, faults = read_manifests(inputs)
    validation = validate_files(files)
    unreadable = tuple(Violation(fault.file, fault.line, 1, "", "", UNREADABLE, fault.message) for fault in faults)
    return replace(validation, violations=(*unreadable, *validation.violations))


def _without_secrets(validation: Validation) -> Validation:
    """Redact messages, since a server's words quote the value that they refuse."""
    if not validation.violations:
        return validation
    from aim_template_migration.planning.secret_scan import redact_about

    return replace(
        validation,
        violations=tuple(
            replace(item, message=redact_about(item.field, item.message)) for item in validation.violations
        ),
    )


def _answer(arguments: ValidateArguments, validation: Validation, console: Console) -> None:
    if arguments.output == "json":
        console.answer(encode(report_of(validation), "json"))
    elif arguments.output == "sarif":
        console.answer(json.dumps(sarif_of(validation), indent=2, ensure_ascii=False))
    elif validation.violations:
        violations = validation.violations
        lines = github_lines(violations) if arguments.output == "github" else text_lines(violations, console.paint)
        console.answer("\n".join(lines))


def _summary(validation: Validation, console: Console) -> None:
    looked = count(validation.objects, "object")
    if not validation.objects and not validation.valid:
        console.note("no object of the AIM API could be validated")
    elif not validation.objects:
        console.note("no object of the AIM API was found, so nothing was validated")
    elif validation.refused:
        console.note(f"of {looked} of the AIM API a server would refuse {validation.refused}")
    elif not validation.valid:
        console.note(f"a server would take {looked} of the AIM API, but not every file can be applied")
    else:
        console.note(f"{looked} of the AIM API would be taken")
    console.note("not checked offline:")
    for item in NOT_CHECKED:
        console.note(f"  - {item}")
