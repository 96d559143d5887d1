"""The read-only check of R's manual Dedicated handoff: live state against evidence, phase by phase."""
