"""What stands in the sources of the tool, for tests that hold it to a table."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "aim_template_migration"


def string_constants(*folders: str) -> set[str]:
    """Return every string constant in the modules of some folders of the tool."""
    found: set[str] = set()
    for folder in folders:
        for file in sorted((PACKAGE / folder).rglob("*.py")):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
            found |= {value for value in constants if isinstance(value, str)}
    return found
