"""Write the golden conversions anew: ``python -m tests.aim_template_migration.manifests.refresh``.

Review what Git then shows as changed: each difference is one that users get. The guide's examples stay as they are,
since they state what must come out.
"""

from collections.abc import Mapping
from pathlib import Path

from tests.aim_template_migration.manifests.test_served import FOLDER, NAMES, convert, messages


def golden_files() -> Mapping[Path, str]:
    """Return the text of every golden file that is made from the code."""
    conversions = {name: convert(name) for name in NAMES}
    texts = {FOLDER / f"{name}.after.yaml": made.files[0].text for name, made in conversions.items()}
    said = {FOLDER / f"{name}.messages.txt": messages(made) for name, made in conversions.items()}
    return {**texts, **said}


def main() -> None:
    """Write what differs, and name it."""
    for path, text in golden_files().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(path.name)  # noqa: T201 - a program for maintainers


if __name__ == "__main__":
    main()
