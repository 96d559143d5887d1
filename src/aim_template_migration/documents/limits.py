"""What no success of this tool proves, in the same words everywhere (R, "Controlled-development limitations")."""

LIMITS = (
    "What this does not prove: that a model serves inference, that the cached bytes were preserved, which storage "
    "backend holds them, or that the procedure is safe in production. Validate live, with a GPU and a real request, "
    "before anything of the predecessor is removed; legacy templates, caches and artifact protections "
    "were left in place."
)
