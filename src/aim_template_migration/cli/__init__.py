"""The command line: argv in, exit code out. The only place of the tool that prints."""
