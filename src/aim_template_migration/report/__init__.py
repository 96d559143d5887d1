"""One self-contained HTML page of plans and their runs: files (shell) → view (pure) → page (template)."""
