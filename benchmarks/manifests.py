"""``convert`` and ``validate`` on thousands of documents with comments, beside kubectl reading the same file."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure
from benchmarks.processes import Cost, measured
from benchmarks.registry import Benchmark, Size
from benchmarks.servers import page_server

_DOCUMENT = """\
# Service {number} of the fleet; ask the owners before changing it.
apiVersion: aim.eai.amd.com/v1alpha1
kind: AIMService
metadata:
  name: chat-{number:05d}
  namespace: team-{team:03d}   # one of many
  labels: {{app.kubernetes.io/part-of: assistants, tier: "{tier}"}}
spec:
  model:
    name: qwen3-32b
  template:
    name: qwen3-32b-latency    # hand-authored
  replicas: {replicas}
  caching:
    mode: Shared
  resources:
    limits:
      memory: 192Gi
  imagePullSecrets:
    - name: registry
"""
_TOOL = (sys.executable, "-m", "aim_template_migration")
_LIMIT = 30.0
_FINDINGS = (0, 3)


def document_figures(size: Size) -> Iterator[Figure]:
    """Yield the figures of one file with all documents."""
    number = 10_000 if size == "full" else 1_000
    with page_server(1, 1) as served:
        file = served.folder / "services.yaml"
        file.write_text("---\n".join(_document(index) for index in range(number)))
        peers = {
            "kubectl apply --dry-run=client": (_kubectl("apply", served.kubeconfig, file), 1.0),
            "kubectl create --dry-run=client": (_kubectl("create", served.kubeconfig, file), None),
        }
        converted = served.folder / "converted.yaml"
        costs = {
            f"convert {number:,} documents": _run("convert", file, "--file", converted),
            f"validate {number:,} documents": _run("validate", converted),
        }
    for name, cost in costs.items():
        # One thread does all of it: on an idle machine this is the time on the clock as well.
        yield Figure(f"{name}: CPU", cost.cpu, "s", limit=_LIMIT, limit_of="value")
        for peer, (other, limit) in peers.items():
            yield Figure(f"{name}: CPU", cost.cpu, "s", other.cpu, peer, limit)
            yield Figure(f"{name}: clock", cost.wall, "s", other.wall, peer, limit)
            yield Figure(f"{name}: peak memory", cost.peak_mb, "MB", other.peak_mb, peer)


def _document(index: int) -> str:
    return _DOCUMENT.format(number=index, team=index % 100, tier=index % 3, replicas=1 + index % 4)


def _run(*arguments: str | Path) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        return measured([*_TOOL, *arguments], accepted=_FINDINGS, folder=Path(folder))


def _kubectl(verb: str, kubeconfig: Path, file: Path) -> Cost:
    """Let kubectl read the file; ``apply`` also asks the server for every object, ``create`` for none."""
    command = ("kubectl", verb, "--dry-run=client", "--validate=false", "-o", "name")
    with tempfile.TemporaryDirectory() as folder:
        return measured(
            [*command, "-f", file, "--kubeconfig", kubeconfig], environment={"HOME": folder}, folder=Path(folder)
        )


BENCHMARKS = (
    Benchmark(
        "manifests",
        "`convert` and `validate` of one file, comments kept. kubectl reads the same file: `apply` asks the server for "
        "every object, `create` for none.",
        document_figures,
    ),
)
