"""Write the pages that say what becomes of every v1alpha1 field: ``python tools/field_pages.py``."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from aim_template_migration.mapping.cache_fates import TEMPLATE_CACHE_FATES
from aim_template_migration.mapping.fates import Fate, FateTable, FieldFate
from aim_template_migration.mapping.model_fates import MODEL_FATES
from aim_template_migration.mapping.recipes.object_fates import OBJECT_FATES
from aim_template_migration.mapping.runtime_config_fates import RUNTIME_CONFIG_FATES
from aim_template_migration.mapping.service_fates import SERVICE_FATES
from aim_template_migration.mapping.template_fates import TEMPLATE_FATES

FOLDER = Path(__file__).parent.parent / "docs" / "reference"
_MADE = "<!-- Made from the mapping by tools/field_pages.py; edit it there. -->"
_WORDS: Mapping[Fate, str] = {
    Fate.MAPPED: "mapped",
    Fate.RENAMED: "renamed",
    Fate.TYPED: "typed",
    Fate.DEFAULTED: "defaulted",
    Fate.IMPUTED: "imputed",
    Fate.NEEDS_DECISION: "needs a decision",
    Fate.REFUSED: "refused",
}
_LEGEND = """\
- mapped: carried to a field of the same name and meaning
- renamed: carried to a field of another name or place
- typed: carried, and the value changes its type or spelling
- defaulted: left out, since v1alpha2 has the same effect without it, or since it has none
- imputed: it names something whose content is looked up and written out
- needs a decision: it has more than one possible target, or none that is exact; it stays, where possible in a place in
  which servers refuse it
- refused: it has no counterpart; it is left out or stays where it is, and is reported

This is what `aim-template-migration convert` does; a field can fare differently in a particular manifest, and the
ledger (`--ledger FILE`) says how each one did. Rows with (G) show fields that only the migration guide's examples have:
no served schema has them, but `convert` takes them. The last column names the code that keeps a unit from being
migrated in place while the field is set (see [codes](codes.md)).
"""


@dataclass(frozen=True, slots=True)
class Page:
    """One page: its file, its title, what it says first, and its table."""

    file: str
    title: str
    intro: str
    table: FateTable


PAGES: tuple[Page, ...] = (
    Page(
        "fields-aimservice.md",
        "Fields of AIMService",
        "An AIMService stays one. Its template becomes a profile, by name or by selector, and its overrides become "
        "`spec.profileOverrides` or part of the selector.",
        SERVICE_FATES,
    ),
    Page(
        "fields-aimmodel.md",
        "Fields of AIMModel and AIMClusterModel",
        "A model of an image changes its version alone. Own weights become a model that derives from a model of the "
        "base image; profile copies and fine-tunes become `spec.profiles`. AIMClusterModel has the same fields; its "
        "targets are the cluster-scoped kinds.",
        MODEL_FATES,
    ),
    Page(
        "fields-aimservicetemplate.md",
        "Fields of AIMServiceTemplate and AIMClusterServiceTemplate",
        "A template becomes an AIMProfile, or an AIMClusterProfile, of the same name. Where discovery can run it is "
        "simpler to create the model at v1alpha2 and let its controller publish the profile.",
        TEMPLATE_FATES,
    ),
    Page(
        "fields-aimtemplatecache.md",
        "Fields of AIMTemplateCache",
        "A template cache becomes `spec.caching.enabled` on the profile of its template, if that is part of the same "
        "input; otherwise it stays, and `convert` says which profile to set it on.",
        TEMPLATE_CACHE_FATES,
    ),
    Page(
        "fields-aimruntimeconfig.md",
        "Fields of AIMRuntimeConfig and AIMClusterRuntimeConfig",
        "Runtime configs stay at v1alpha1, and `convert` leaves them as they are. What profiles can't take from them "
        "any more is written into the profiles.",
        RUNTIME_CONFIG_FATES,
    ),
)


def field_pages() -> Mapping[str, str]:
    """Return every page by file name."""
    return {page.file: _text(page) for page in PAGES}


def _text(page: Page) -> str:
    common = OBJECT_FATES if page.table is not RUNTIME_CONFIG_FATES else ()
    lines = [_MADE, "", f"# {page.title}", "", page.intro, "", _LEGEND, ""]
    lines += ["| v1alpha1 field | fate | v1alpha2 | why | in place |", "|---|---|---|---|---|"]
    return "\n".join([*lines, *_rows((*page.table.fates, *common))]) + "\n"


def _rows(fates: tuple[FieldFate, ...]) -> Iterator[str]:
    for fate in fates:
        guide = "" if fate.served else " (G)"
        target = f"`{fate.target}`" if fate.target else ""
        refusal = f"`{fate.refusal}`" if fate.refusal else ""
        yield f"| `{fate.path}`{guide} | {_WORDS[fate.fate]} | {target} | {_cell(fate.reason)} | {refusal} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> None:
    """Write every page."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in field_pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(f"docs/reference/{name}")


if __name__ == "__main__":
    main()
