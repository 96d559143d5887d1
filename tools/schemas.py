"""Write the JSON Schemas to ``schemas/``: ``python tools/schemas.py``."""

from pathlib import Path

from aim_template_migration.documents.schemas import schema_files

FOLDER = Path(__file__).parent.parent / "schemas"


def main() -> None:
    """Write every schema."""
    FOLDER.mkdir(exist_ok=True)
    for name, data in schema_files().items():
        (FOLDER / name).write_bytes(data)
        print(f"schemas/{name}")


if __name__ == "__main__":
    main()
