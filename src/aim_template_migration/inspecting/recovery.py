"""What the runbook says to do with a unit that needs attention (R, "Partial recovery"), in this tool's words (pure)."""

from collections.abc import Iterable

from aim_template_migration.documents.codes import CODES

RECOVERY = (
    "Stop: let no administrator change anything more of these units.",
    "Look: read each unit's entry here and in the result: its UIDs, owner references, pause state, and last steps.",
    "Compare: hold the live objects against plan.json, backup.yaml and the credential backup that is kept apart.",
    "Decide: choose a manual correction or a reconstruction of the predecessor with the owners of the resources.",
    "Nothing is rolled back, compensated or cleaned up, and a later apply is no resume: it starts from live state.",
)
"""In the order in which it is done; the last sentence holds throughout."""


def advice_of(codes: Iterable[str]) -> tuple[str, ...]:
    """Return what the codes say an administrator does, each sentence once, in order."""
    known = (CODES[code].advice for code in codes if code in CODES)
    return tuple(dict.fromkeys(known))
