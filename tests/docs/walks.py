"""How the command lines of each page are run: what comes first, what stands for a placeholder, what is left out.

A page's shell blocks are one script, in their order, in one folder. A line that is left out has its reason here, and
the test that tries it instead. Every line ends with 0 unless another code is named.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

_INSTALLED = "tests/packaging/test_packages.py installs the package with pip, pipx and uv"
_CI = ".ci/run runs it; tests/docs/test_pages.py holds it to the page"
_NO_ENGINE = "no container engine in tests; tests/deploy/test_containerfile.py runs the steps of the file"
_FAULTS = "it takes minutes to hours; the tests in tests/faults play part of it"
_NO_PODS = "the local API runs no pods; tests/deploy/test_on_server.py tries the manifests, and the commands run here"
PLAN = "aim-template-migration plan --namespace team-a --namespace team-b --runtime-projection-mode Both --output-dir"
COMMIT = "aim-template-migration apply --commit --soak 0s --plan"


@dataclass(frozen=True)
class Walk:
    """How one page is walked.

    Attributes:
        worlds: the world of each local API, by the name of its context; the first context is the current one.
        before: a script that comes first.
        places: what stands in the place of a text, in this order.
        ahead: by the beginning of a line, a script that goes ahead of it.
        left_out: by the beginning of a line, why it is not run.
        codes: by the beginning of a line, the exit codes that it may have; 0 for all others.
        needs_kubectl: whether it has lines for kubectl.
    """

    worlds: Mapping[str, str] = field(default_factory=dict)
    before: str = ""
    places: Mapping[str, str] = field(default_factory=dict)
    ahead: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    codes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    needs_kubectl: bool = False


_CHECKOUT = "export PYTHONPATH=$ROOT:$ROOT/src"
_QUICK = {"--commit": "--commit --soak 0s"}
_VENV = "python3 -m venv .venv"
_HAPPY = {"first": "shared-happy-path"}
_MIGRATED = f"{PLAN} ./migration-plan\n{COMMIT} ./migration-plan"

WALKS: Mapping[str, Walk] = {
    "README.md": Walk(
        worlds=_HAPPY,
        places={".venv/bin/aim": "aim", "AIMService/team-a/chat": "AIMService/team-a/qwen-chat", **_QUICK},
        ahead={"aim-template-migration apply --plan ~/migration-plan --commit": "archive ~/migration-plan"},
        left_out={_VENV: _INSTALLED, ".venv/bin/python -m pytest": _CI},
    ),
    "CONTRIBUTING.md": Walk(left_out={_VENV: _CI, ". .venv/bin/activate": _CI}),
    "docs/tutorial/first-rehearsal.md": Walk(
        worlds=_HAPPY,
        places={"export KUBECONFIG=…": ": KUBECONFIG is set", "--world NAME": "--world adapters", "/tmp/": "./"},
        ahead={"kubectl get aimservice -A -o wide": "by_hand"},
        left_out={
            _VENV: _INSTALLED,
            "source .venv/bin/activate": _INSTALLED,
            "aim-template-migration rehearse --serve --by-hand": "it is what serves the cluster of this page",
        },
        needs_kubectl=True,
    ),
    "docs/how-to/install.md": Walk(
        left_out={
            "pipx ": _INSTALLED,
            "uv tool install": _INSTALLED,
            _VENV: _INSTALLED,
            "man -l": "tests/docs/test_man_page.py shows the page",
        },
        needs_kubectl=True,
    ),
    "docs/how-to/runbook.md": Walk(
        worlds={**_HAPPY, "second": "dedicated-caching"},
        before=f"{PLAN.replace('--namespace team-b ', '')} dedicated --context second",
        places={"team-a chat": "team-a qwen-chat", "FILE": "dedicated/dedicated-handoff-*.json", **_QUICK},
        ahead={
            "aim-template-migration apply --plan ~/migration-plan --commit": "archive ~/migration-plan",
            "aim-template-migration handoff": "use_context second",
        },
        codes={"aim-template-migration handoff": (0, 3)},
        needs_kubectl=True,
    ),
    "docs/how-to/verify.md": Walk(worlds=_HAPPY, before=_MIGRATED, needs_kubectl=True),
    "docs/how-to/after-a-failure.md": Walk(
        worlds=_HAPPY,
        before=f"{_MIGRATED}\necho '{{}}' > ./migration-plan/apply.lock; chmod 600 ./migration-plan/apply.lock",
        places=_QUICK,
        codes={"aim-template-migration inspect": (0, 3)},
    ),
    "docs/how-to/convert-manifests.md": Walk(
        worlds=_HAPPY,
        before=f"{_MIGRATED}\nmkdir manifests; put_manifest manifests/chat.yaml",
        ahead={
            "aim-template-migration convert ./manifests --in-place --plan": "put_manifest manifests/chat.yaml",
        },
        codes={"aim-template-migration convert ./manifests --diff": (0,)},
    ),
    "docs/how-to/several-clusters.md": Walk(
        worlds={"east": "shared-happy-path", "west": "shared-happy-path"},
        places=_QUICK,
    ),
    "docs/how-to/run-in-the-cluster.md": Walk(
        worlds=_HAPPY,
        before="kubectl create namespace aim-system; mkdir deploy work; cp $ROOT/deploy/* deploy/; chmod 700 work",
        places={
            "kubectl -n aim-template-migration exec reader -- ": "",
            "/work/": "./work/",
        },
        ahead={
            "kubectl create -f deploy/plan-job.yaml": "as_job deploy/plan-job.yaml",
            "kubectl create -f deploy/dry-run-job.yaml": "as_job deploy/dry-run-job.yaml",
            "kubectl create -f deploy/commit-job.yaml": "as_job deploy/commit-job.yaml",
        },
        left_out={
            "podman ": _NO_ENGINE,
            "kubectl -n aim-template-migration wait": _NO_PODS,
            "kubectl -n aim-template-migration logs": _NO_PODS,
            "kubectl -n aim-template-migration cp": _NO_PODS,
        },
        needs_kubectl=True,
    ),
    "docs/explanation/failure-model.md": Walk(
        before=_CHECKOUT,
        left_out={
            "python -m tests.faults  ": _FAULTS,
            "python -m tests.faults --full": _FAULTS,
            "python -m tests.faults --random": _FAULTS,
        },
    ),
    "docs/explanation/convert-fuzzing.md": Walk(
        before=_CHECKOUT,
        places={"--count 1000000 --seed 1000000": "--count 3 --seed 1000000"},
    ),
    "docs/explanation/licences.md": Walk(places={".venv/bin/pip": "python -m pip"}),
}
LEFT_OUT_PAGES: Mapping[str, str] = {
    "docs/how-to/failures/": "each shows one fault, which the tests of faults play; here the parser reads its lines",
}
