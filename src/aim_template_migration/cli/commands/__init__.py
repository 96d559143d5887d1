"""One module per command, imported when it runs: ``run(parsed, console)`` returns the exit code."""
