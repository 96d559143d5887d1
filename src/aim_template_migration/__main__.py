"""Where a process starts: ``aim-template-migration``, the kubectl plugin, ``python -m aim_template_migration``."""

import signal


def run() -> None:
    """Run the command line of this process and exit with its code.

    Until the command line is there to say ``interrupted``, Ctrl-C ends the process as it ends any program: the imports
    take longer than a keystroke, and Python's own answer would be a traceback.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # in the background it may be ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from aim_template_migration.cli.main import run as run_command_line

    run_command_line()


if __name__ == "__main__":
    run()
