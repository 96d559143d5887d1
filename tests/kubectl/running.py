"""Runs kubectl against one server and takes out of its output what no two servers can have in common."""

import json
import os
import re
import shlex
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from aim_api.tree import Json, JsonObject
from tests.conformance.normalising import Normaliser

_SECONDS = 60
_SUBSTITUTIONS = (
    (re.compile(r"https://127\.0\.0\.1:\d+"), "<server>"),
    # A column of a table, whose width follows the ages.
    (re.compile(r"(?m)(?<=\s)(\d+[dhms])+( *$|  +)"), "<age>  "),
    (re.compile(r"\bAGE +"), "AGE  "),
    (re.compile(r"(?m)^(\s*Resource Version:\s+)\d+"), r"\1<version>"),
    (re.compile(r"(resourceVersion: )\"\d+\""), r"\1<version>"),
    # kubectl diff compares files in folders of its own.
    (re.compile(r"/\S*/(LIVE|MERGED)-\d+"), r"\1"),
    (re.compile(r"(?m)^((?:---|\+\+\+) \S+)\t.*$"), r"\1"),
    (re.compile(r"took [\d.]+m?s"), "took <time>"),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command printed, normalised, and how it ended."""

    command: str
    code: int
    output: Json
    errors: str

    @property
    def shown(self) -> JsonObject:
        """What is compared."""
        return {"code": self.code, "output": self.output, "errors": self.errors}


@dataclass(frozen=True, slots=True)
class Kubectl:
    """kubectl for one identity, one server and one namespace.

    Attributes:
        environment: names the server and the identity.
        namespace: the namespace.
        folder: the folder with the manifests that commands name.
    """

    environment: Mapping[str, str]
    namespace: str
    folder: Path

    def run(self, command: str) -> Outcome:
        """Run a command, which is written as in a shell but without one."""
        arguments = ["kubectl", "--namespace", self.namespace, *shlex.split(command)]
        done = subprocess.run(
            arguments,
            env={"PATH": os.environ["PATH"], **self.environment},
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        output = _parsed(command, done.stdout)
        return Outcome(command, done.returncode, _normalised(output), _text(done.stderr))


def _parsed(command: str, output: str) -> Json:
    if "-o json" in command and output.startswith(("{", "[")) and "jsonpath" not in command:
        parsed: Json = json.loads(output)
        return parsed
    if "-o yaml" in command and output:
        texts: Json = yaml.load(output, Loader=yaml.CBaseLoader)
        return texts
    return output


def _normalised(output: Json) -> Json:
    if isinstance(output, str):
        return _text(output)
    return Normaliser().normalised(output, "the command")


def _text(text: str) -> str:
    for pattern, replacement in _SUBSTITUTIONS:
        text = pattern.sub(replacement, text)
    return Normaliser().text(text)
