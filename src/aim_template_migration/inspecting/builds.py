"""Whether the CRDs and the operator say that they are of one build (pure; R, "Prerequisites")."""

from collections.abc import Mapping
from dataclasses import dataclass

from aim_api.tree import JsonObject, get_objects, get_str, get_strings
from aim_template_migration.documents.preflight import Answer, Prerequisite
from aim_template_migration.kube.permissions import OPERATOR_DEPLOYMENT, OPERATOR_NAMESPACE

VERSION = "app.kubernetes.io/version"
CHART = "helm.sh/chart"
_CODE = "SameBuild"


@dataclass(frozen=True, slots=True)
class Operator:
    """What the operator's Deployment says of its build.

    Attributes:
        image: the image of its first container.
        version: its version label, else the tag of its image; empty where it has neither.
    """

    image: str
    version: str


def operator_of(deployment: JsonObject) -> Operator:
    """Return what a Deployment says of its build."""
    containers = get_objects(deployment, "spec", "template", "spec", "containers")
    image = (get_str(containers[0], "image") or "") if containers else ""
    labels = get_strings(deployment, "metadata", "labels")
    return Operator(image, labels.get(VERSION, "") or _tag(image))


def same_build(crd_labels: Mapping[str, Mapping[str, str]], operator: Operator | None, why: str) -> Prerequisite:
    """Compare the builds that the CRDs and the operator name.

    Args:
        crd_labels: the labels of each AIM CRD, by its name.
        operator: what the operator says, None where it can't be read.
        why: why it can't be read.
    """
    named = {name: labels[VERSION] for name, labels in crd_labels.items() if labels.get(VERSION)}
    evidence = [f"CRD {name}: {_said(labels)}" for name, labels in sorted(crd_labels.items())]
    evidence.append(f"operator: {operator.image or 'no image'}" if operator else f"operator: {why}")
    versions = sorted({_bare(version) for version in named.values()})
    if len(versions) > 1:
        return _line("stop", f"the CRDs are of several builds: {', '.join(versions)}", evidence)
    if len(named) < len(crd_labels) or not versions:
        bare = len(crd_labels) - len(named)
        message = f"uncheckable: {bare} of {len(crd_labels)} AIM CRDs carry no label {VERSION}"
        return _line("unchecked", f"{message}; compare the builds by your own records", evidence)
    if operator is None or not operator.version:
        message = f"uncheckable: the CRDs are of build {versions[0]}, and the operator's build can't be told"
        return _line("unchecked", f"{message}; compare the builds by your own records", evidence)
    if _bare(operator.version) != versions[0]:
        message = f"the CRDs are of build {versions[0]}, the operator is of build {operator.version}"
        return _line("stop", message, evidence)
    return _line("ok", f"CRDs and operator say that they are of build {versions[0]}", evidence)


def not_found() -> str:
    """Return why there is nothing to read where the operator's own chart would install it."""
    return f"there is no Deployment {OPERATOR_NAMESPACE}/{OPERATOR_DEPLOYMENT}, where its own chart installs it"


def _line(answer: Answer, message: str, evidence: list[str]) -> Prerequisite:
    return Prerequisite(_CODE, answer, message, tuple(evidence))


def _said(labels: Mapping[str, str]) -> str:
    said = [f"{key}={labels[key]}" for key in (VERSION, CHART) if labels.get(key)]
    return ", ".join(said) or "no build label"


def _tag(image: str) -> str:
    """Return the tag of an image reference; a digest or a registry's port is none."""
    name = image.partition("@")[0].rpartition("/")[2]
    return name.partition(":")[2]


def _bare(version: str) -> str:
    return version.removeprefix("v")
