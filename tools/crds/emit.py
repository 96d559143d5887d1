"""The definitions as YAML text."""

from pathlib import Path

import yaml

from aim_api.tree import Json, JsonObject
from tools.crds.definition import definitions
from tools.crds.schema import Shared

FOLDER = Path(__file__).resolve().parents[2] / "src" / "aim_api" / "crds"

_HEAD = """\
# Written by `python -m tools.crds`: change tools/crds and run it again.
# What occurs more than once stands under an anchor. Where a kind has two versions, both have one and the same property
# tree, because a status write through a narrower version would silently drop the other's fields.
"""
_WIDTH = 118
_FLOW_WIDTH = 80


class _Dumper(yaml.SafeDumper):
    """Writes shared schemas once, under their names, and short leaves on one line."""

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)  # type: ignore[arg-type]
        self._names: dict[int, str] = {}

    def ignore_aliases(self, data: object) -> bool:
        return not isinstance(data, Shared)

    def represent_data(self, data: object) -> yaml.Node:
        if not isinstance(data, Shared):
            return super().represent_data(data)
        node = super().represent_data(data)
        self._names[id(node)] = data.anchor
        return node

    def generate_anchor(self, node: yaml.Node) -> str:
        return self._names[id(node)]

    def represent_mapping(self, tag: str, mapping: object, flow_style: bool | None = None) -> yaml.MappingNode:  # noqa: FBT001
        node = super().represent_mapping(tag, mapping, flow_style)  # type: ignore[arg-type]
        node.flow_style = _fits([part for pair in node.value for part in pair])
        return node

    def represent_sequence(self, tag: str, sequence: object, flow_style: bool | None = None) -> yaml.SequenceNode:  # noqa: FBT001
        node = super().represent_sequence(tag, sequence, flow_style)  # type: ignore[arg-type]
        node.flow_style = _fits(node.value)
        return node


def _fits(parts: list[yaml.Node]) -> bool:
    if not all(isinstance(part, yaml.ScalarNode) for part in parts):
        return False
    return sum(len(part.value) + 2 for part in parts) <= _FLOW_WIDTH


_Dumper.add_representer(Shared, _Dumper.represent_dict)


def text_of(definition: JsonObject) -> str:
    """Return the YAML text of one definition."""
    body: Json = definition
    return _HEAD + yaml.dump(body, Dumper=_Dumper, sort_keys=False, width=_WIDTH, allow_unicode=True)


def texts() -> dict[Path, str]:
    """Return the text of every file in the folder of definitions."""
    return {FOLDER / f"{kind.plural}.yaml": text_of(definition) for kind, definition in definitions().items()}
