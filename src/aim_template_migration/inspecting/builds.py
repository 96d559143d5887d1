"""Whether CRDs and operator say that they are of one build, and whether that operator is at work (pure; R)."""

from collections.abc import Mapping
from dataclasses import dataclass

from aim_api.tree import JsonObject, get_int, get_objects, get_str, get_strings
from aim_template_migration.documents.preflight import Answer, Prerequisite
from aim_template_migration.kube.permissions import OperatorPlace

VERSION = "app.kubernetes.io/version"
CHART = "helm.sh/chart"
_RELEASE_NAMESPACE = "meta.helm.sh/release-namespace"
_MANAGER = "manager"


@dataclass(frozen=True, slots=True)
class Operator:
    """What the operator's Deployment says of itself.

    Attributes:
        image: the image of its container ``manager``, else of its first one.
        version: its version label, else the tag of its image; empty where it has neither.
        wanted: how many pods it wants.
        updated: how many are of its present template.
        available: how many are available.
        observed: whether its status is of its present generation.
        terminating: whether it is being deleted.
    """

    image: str
    version: str
    wanted: int = 1
    updated: int = 1
    available: int = 1
    observed: bool = True
    terminating: bool = False


def operator_of(deployment: JsonObject) -> Operator:
    """Return what a Deployment says of its build and its state."""
    containers = get_objects(deployment, "spec", "template", "spec", "containers")
    container = next((item for item in containers if get_str(item, "name") == _MANAGER), None)
    image = get_str(container or (containers[0] if containers else None), "image") or ""
    labels = get_strings(deployment, "metadata", "labels")
    replicas = get_int(deployment, "spec", "replicas")
    return Operator(
        image=image,
        version=labels.get(VERSION, "") or _tag(image),
        wanted=1 if replicas is None else replicas,
        updated=get_int(deployment, "status", "updatedReplicas") or 0,
        available=get_int(deployment, "status", "availableReplicas") or 0,
        observed=get_int(deployment, "status", "observedGeneration") == get_int(deployment, "metadata", "generation"),
        terminating=get_str(deployment, "metadata", "deletionTimestamp") is not None,
    )


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
        return _build("stop", f"the CRDs are of several builds: {', '.join(versions)}", evidence)
    if len(named) < len(crd_labels) or not versions:
        bare = len(crd_labels) - len(named)
        message = f"uncheckable: {bare} of {len(crd_labels)} AIM CRDs carry no label {VERSION}"
        return _build("unchecked", f"{message}; compare the builds by your own records", evidence)
    if operator is None or not operator.version:
        reason = why or "its image has no tag and it has no version label"
        message = f"uncheckable: the CRDs are of build {versions[0]}, and the operator's build can't be told ({reason})"
        return _build("unchecked", f"{message}; compare the builds by your own records", evidence)
    if _bare(operator.version) != versions[0]:
        message = f"the CRDs are of build {versions[0]}, the operator is of build {operator.version}"
        return _build("stop", message, evidence)
    return _build("ok", f"CRDs and operator say that they are of build {versions[0]}", evidence)


def at_work(place: OperatorPlace, operator: Operator | None, why: str) -> Prerequisite:
    """Return whether the operator runs: what it reported before it stopped proves nothing.

    Args:
        place: where it was looked for.
        operator: what it says, None where it can't be read.
        why: why it can't be read.
    """
    if operator is None:
        message = f"uncheckable: {why}; see by yourself that the bridge operator runs, and nothing older beside it"
        return _work("unchecked", message)
    name = f"Deployment {place}"
    if operator.terminating or not operator.available:
        state = "is being deleted" if operator.terminating else "has no available pod"
        return _work("stop", f"{name} {state}, so that no operator is at work")
    if not operator.observed or not operator.wanted == operator.updated == operator.available:
        message = (
            f"{name} is not rolled out: it wants {operator.wanted} pods, {operator.updated} are of its present "
            f"template, {operator.available} are available; a pod of another build may be at work"
        )
        return _work("attention", message)
    return _work("ok", f"{name} is rolled out and available")


def not_found(place: OperatorPlace, crd_annotations: Mapping[str, Mapping[str, str]]) -> str:
    """Return why there is nothing to read, and where the operator may be instead.

    Args:
        place: where it was looked for.
        crd_annotations: the annotations of each AIM CRD, by its name.
    """
    released = {found[_RELEASE_NAMESPACE] for found in crd_annotations.values() if found.get(_RELEASE_NAMESPACE)}
    others = ", ".join(sorted(released - {place.namespace}))
    hint = f" (the CRDs' Helm release is in {others})" if others else ""
    return f"there is no Deployment {place}, so name it with --operator NAMESPACE/NAME{hint}"


def _build(answer: Answer, message: str, evidence: list[str]) -> Prerequisite:
    return Prerequisite("SameBuild", answer, message, tuple(evidence))


def _work(answer: Answer, message: str) -> Prerequisite:
    return Prerequisite("OperatorAtWork", answer, message)


def _said(labels: Mapping[str, str]) -> str:
    said = [f"{key}={labels[key]}" for key in (VERSION, CHART) if labels.get(key)]
    return ", ".join(said) or "no build label"


def _tag(image: str) -> str:
    """Return the tag of an image reference; a digest or a registry's port is none."""
    name = image.partition("@")[0].rpartition("/")[2]
    return name.partition(":")[2]


def _bare(version: str) -> str:
    return version.removeprefix("v")
