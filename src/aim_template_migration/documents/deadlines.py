"""How long a step may take at most; apart from the plan's own module, which takes long to import."""

LONGEST_CUTOVER_DEADLINE_SECONDS = 600
