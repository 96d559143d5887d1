"""Run the quick tests with other Pythons and with the oldest libraries: ``python tools/versions.py --lowest``.

Needs uv, which the ``dev`` extra brings, and the package registry; each combination gets an environment of its own
below ``build/versions``. Without a version every Python from 3.11 on that uv finds is taken; none is downloaded.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "build" / "versions"
OLDEST, NEWEST = 11, 15
_QUICK = ("-m", "pytest", "-q", "-n", "auto", "-m", "not controlplane and not slow", "-p", "no:cacheprovider")


def main() -> int:
    """Try each combination; return 0 where all passed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("versions", nargs="*", metavar="VERSION", help="such as 3.12")
    parser.add_argument("--lowest", action="store_true", help="also the oldest libraries that pyproject.toml allows")
    parsed = parser.parse_args()
    versions = parsed.versions or [f"3.{minor}" for minor in range(OLDEST, NEWEST + 1)]
    pythons = {version: _interpreter(version) for version in versions}
    missing = [version for version, python in pythons.items() if python is None]
    if missing:
        print(f"not on this machine: {', '.join(missing)}")
    found = [python for python in pythons.values() if python is not None]
    tried = [_passes(python, "highest") for python in found]
    tried += [_passes(found[0], "lowest-direct")] if parsed.lowest and found else []
    return 0 if tried and all(tried) and not (parsed.versions and missing) else 1


def _interpreter(version: str) -> str | None:
    command = ["uv", "python", "find", "--no-python-downloads", "--no-project", "--system", version]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own words
    if done.returncode == 0:
        return done.stdout.strip()
    kept = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python3"))  # uv looks on the PATH alone
    return str(kept[-1]) if kept else None


def _passes(python: str, resolution: str) -> bool:
    folder = FOLDER / f"{'-'.join(Path(python).parts[-3:])}-{resolution}"
    environment = folder / "bin" / "python"
    print(f"\n== {python}, {resolution} libraries", flush=True)
    install = ["uv", "pip", "install", "--quiet", "--resolution", resolution, "--python", str(environment)]
    steps = (
        ("uv", "venv", "--quiet", "--clear", "--python", python, str(folder)),
        (*install, "--editable", ".[test]"),
        (str(environment), *_QUICK),
    )
    there = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    return all(subprocess.run(step, check=False, cwd=ROOT, env=there).returncode == 0 for step in steps)  # noqa: S603


if __name__ == "__main__":
    sys.exit(main())
