"""The committed schemas are those of the code, and the documents of a real run fit them."""

import json
from pathlib import Path

import jsonschema
import msgspec
import pytest

from aim_template_migration.documents.rehearsal import encode_report
from aim_template_migration.documents.schemas import schema_files

FOLDER = Path(__file__).parents[3] / "schemas"


def validator(name):
    schema = json.loads(schema_files()[name])
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_the_committed_schemas_are_current():
    """Write them anew with: python tools/schemas.py."""
    assert {path.name: path.read_bytes() for path in FOLDER.iterdir()} == dict(schema_files())


@pytest.mark.parametrize("name", sorted(schema_files()))
def test_a_schema_is_named_like_its_file_and_describes_its_fields(name):
    schema = json.loads(schema_files()[name])
    assert schema["$id"].endswith(f"/{name}")
    assert all(definition["description"] for definition in schema["$defs"].values())


def test_documents_name_their_schema_and_fit_it(recorded):
    for file, name in (
        ("plan.json", "plan-v1.json"),
        ("plan.generated.json", "plan-v1.json"),
        ("apply-result.json", "apply-result-v1.json"),
        ("dry-run-result.json", "apply-result-v1.json"),
    ):
        document = json.loads((recorded.directory / file).read_text())
        validator(name).validate(document)
        assert document["$schema"] == json.loads(schema_files()[name])["$id"]
    report = msgspec.json.decode(encode_report(recorded.outcome.report))
    validator("rehearsal-report-v1.json").validate(report)
    assert report["$schema"].endswith("rehearsal-report-v1.json")


def test_every_line_of_a_journal_fits(recorded):
    check = validator("journal-line-v1.json")
    lines = (recorded.directory / "apply-result.json.journal.jsonl").read_text().splitlines()
    assert len(lines) > 20
    for line in lines:
        check.validate(json.loads(line))


def test_unknown_keys_are_refused(recorded):
    document = json.loads((recorded.directory / "plan.json").read_text())
    document["units"][0]["dispositoin"] = "manual"
    with pytest.raises(jsonschema.ValidationError, match="dispositoin"):
        validator("plan-v1.json").validate(document)
