"""The local API with a generated fleet, in a process of its own.

``python -m benchmarks.local_api FOLDER --namespaces 10 --services 100`` writes ``FOLDER/kubeconfig``, prints ``ready``
and serves until its standard input ends.
"""

import argparse
import sys
from pathlib import Path

from aim_rehearsal.session import RehearsalSession
from aim_rehearsal.worlds import fleet


def main() -> None:
    """Serve what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--namespaces", type=int, default=10)
    parser.add_argument("--services", type=int, default=100)
    options = parser.parse_args()
    world = fleet(options.namespaces, options.services)
    with RehearsalSession(world, work_dir=options.folder) as session:
        session.kubeconfig("admin").rename(options.folder / "kubeconfig")
        print("ready", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
