"""Writes the definitions: ``python -m tools.crds``."""

from tools.crds.emit import texts


def main() -> None:
    """Write every file whose text has changed."""
    for path, text in texts().items():
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


main()
