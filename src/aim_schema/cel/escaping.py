"""Names of fields as expressions write them: ``a-b`` is ``a__dash__b``, ``namespace`` is ``__namespace__``."""

import re

from aim_schema.cel.tokens import RESERVED

_SPELLED = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_SPECIAL = re.compile(r"__|[-./]")
_ESCAPABLE = re.compile(r"[A-Za-z_./-][A-Za-z0-9_./-]*")


def escape(name: str) -> str | None:
    """Return the name that expressions use for a field, or None where none can."""
    if name in RESERVED:
        return f"__{name}__"
    if _ESCAPABLE.fullmatch(name) is None:
        return None
    return _SPECIAL.sub(lambda match: _SPELLED[match[0]], name)
