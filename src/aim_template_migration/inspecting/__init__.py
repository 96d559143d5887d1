"""Looking without touching: before a plan, after a failure, and after a success."""
