"""Where convert comes next, the command is one that can be copied as it stands."""

import shlex

import pytest

from aim_template_migration.cli.parser import build_parser
from aim_template_migration.cli.rendering.conversions import convert_command, general_convert_command
from aim_template_migration.documents.codes import CODES
from aim_template_migration.documents.codes.situations import CONVERTED
from aim_template_migration.documents.plan import Finding


@pytest.mark.parametrize(
    ("object_id", "read"),
    [
        ("AIMService/a/s", "aimservices.v1alpha1.aim.eai.amd.com s -n a"),
        ("AIMServiceTemplate/a/t", "aimservicetemplates.v1alpha1.aim.eai.amd.com t -n a"),
        ("AIMClusterServiceTemplate/t", "aimclusterservicetemplates.v1alpha1.aim.eai.amd.com t"),
        ("AIMTemplateCache/a/c", "aimtemplatecaches.v1alpha1.aim.eai.amd.com c -n a"),
    ],
)
def test_the_live_object_is_read_at_the_version_of_its_manifest(object_id, read):
    command = convert_command(Finding(code="Unreferenced", object=object_id, message="m"))
    get, convert = command.split(" | ")
    assert get == f"kubectl get {read} -o yaml"
    assert build_parser().parse_args(shlex.split(convert)[1:]).from_cluster


@pytest.mark.parametrize(
    ("code", "object_id"),
    [("Paused", "AIMService/a/s"), ("UnmappedField", "InferenceService/a/i"), ("Unreferenced", "X")],
)
def test_where_convert_does_not_help_there_is_no_command(code, object_id):
    assert convert_command(Finding(code=code, object=object_id, message="m")) == ""


def test_every_general_command_is_one_that_the_parser_takes():
    codes = {*CONVERTED, "LastAppliedPresent"}
    assert codes <= set(CODES)
    for code in codes:
        words = shlex.split(general_convert_command(code))[1:]
        assert build_parser().parse_args(words).command == "convert"
    assert general_convert_command("Paused") == ""
