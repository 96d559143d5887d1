"""What holds for the text of every conversion: nothing foreign changes, no comment is lost, never a traceback."""

import json
from random import Random

import yaml

from aim_api.tree import Json, JsonObject
from aim_template_migration.documents.backup_yaml import emit
from aim_template_migration.manifests.converting import Conversion, convert_files
from aim_template_migration.manifests.findings import findings_of
from aim_template_migration.manifests.layout import same
from aim_template_migration.manifests.located import ManifestFile
from aim_template_migration.manifests.objects import objects_of
from aim_template_migration.manifests.reading import read_manifest
from aim_template_migration.manifests.validating import validate_files
from aim_template_migration.mapping.recipes.conversion import ObjectConversion, is_aim_object
from tests.aim_template_migration.mapping.recipes.random_inputs import RandomInputs

FOREIGN = (
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n  on: no   # 1:20\n  a: 0755\n  b: |\n    text\n",
    "# only a comment\n",
    "kind: Unheard\nx: &a [1, 2]\ny: *a\n",
    "- not\n- an object\n",
    "a: {{ template }}\n",
)


class RandomText:
    """Random objects as text of many kinds: block and flow style, JSON, comments, lists, foreign neighbours."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.typed_lists = Random(f"lists {seed}")
        self.objects = RandomInputs(seed).several()

    def text(self) -> str:
        if self.random.random() < 0.1:
            return json.dumps(self.objects[0], indent=self.random.choice((None, 2, 4)))
        documents = [self.one(value) for value in self.objects]
        documents += self.random.sample(FOREIGN, self.random.randint(0, 2))
        self.random.shuffle(documents)
        text = self.random.choice(("", "---\n", "# licence\n\n")) + "---\n".join(documents)
        text = text if self.random.random() < 0.8 else text.rstrip("\n")
        return text.replace("\n", "\r\n") if self.random.random() < 0.2 else text

    def one(self, value: JsonObject) -> str:
        style = self.random.random()
        if self.typed_lists.random() < 0.1:
            # As an API server answers: the items have the list's kind and do not say so.
            items: list[Json] = [{key: item for key, item in value.items() if key not in ("apiVersion", "kind")}]
            value = {"apiVersion": value["apiVersion"], "kind": f"{value['kind']}List", "items": items}
        elif style < 0.15:
            value = {"apiVersion": "v1", "kind": "List", "items": [value]}
        if style > 0.85:
            return yaml.dump(
                value, sort_keys=False, default_flow_style=self.random.choice((None, True, False)), width=60
            )
        return self.commented(emit(value, list_indent=self.random.choice(("", "  "))))

    def commented(self, text: str) -> str:
        lines: list[str] = []
        for number, line in enumerate(text.splitlines()):
            if self.random.random() < 0.1:
                lines.append(f"{' ' * (len(line) - len(line.lstrip()))}# above {number}")
            lines.append(f"{line}  # behind {number}" if self.random.random() < 0.1 else line)
        return "\n".join(lines) + "\n"


def converted(text: str) -> Conversion:
    return convert_files([ManifestFile("f.yaml", read_manifest(text.encode()))])


def expected(text: str) -> list[Json]:
    """Return what the objects of a text become, by their values alone."""
    values = [place.value for place in objects_of(read_manifest(text.encode()))]
    found: list[Json] = []
    for value, draft in zip(values, ObjectConversion(values).drafts, strict=True):
        if draft is None:
            found.append(value)
            continue
        found += [new.value for new in draft.beside if new.above]
        found += [] if draft.removed else [draft.value]
        found += [new.value for new in draft.beside if not new.above]
    return found


def check(seed: int) -> Conversion:
    """Convert the text of a seed; return the conversion."""
    text = RandomText(seed).text()
    conversion = converted(text)
    file = conversion.files[0]
    assert same(list(file.objects()), expected(text)), "the text does not say what was decided"
    foreign = [value for value in file.objects() if not is_aim_object(value)]
    before = [place.value for place in objects_of(read_manifest(text.encode())) if not is_aim_object(place.value)]
    assert foreign == before
    again = converted(file.text)
    assert not again.files[0].changed, "converting twice changes the text"
    validate_files([ManifestFile("f.yaml", read_manifest(file.text.encode()))])
    assert all(str(finding).startswith("f.yaml:") for finding in findings_of(conversion.ledger))
    for part in FOREIGN:
        if part in text:
            assert part.strip() in file.text
    return conversion


def test_any_text_is_converted_and_said() -> None:
    for seed in range(150):
        try:
            check(seed)
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise
