"""Whether CRDs and operator say that they are of one build."""

import pytest

from aim_template_migration.inspecting.builds import Operator, operator_of, same_build

V = "app.kubernetes.io/version"
CRDS = {"a": {V: "0.3.0"}, "b": {V: "v0.3.0", "helm.sh/chart": "aim-engine-crds-chart-0.3.0"}}


@pytest.mark.parametrize(
    ("crds", "operator", "answer", "said"),
    [
        (CRDS, Operator("r/aim:v0.3.0", "0.3.0"), "ok", "0.3.0"),
        (CRDS, Operator("r/aim:0.4.0", "0.4.0"), "stop", "the operator is of build 0.4.0"),
        (CRDS | {"c": {V: "0.2.0"}}, Operator("r/aim:0.3.0", "0.3.0"), "stop", "several builds"),
        (CRDS | {"c": {}}, Operator("r/aim:0.3.0", "0.3.0"), "unchecked", "1 of 3 AIM CRDs carry no label"),
        ({}, None, "unchecked", "uncheckable"),
        (CRDS, None, "unchecked", "the operator's build can't be told"),
        (CRDS, Operator("r/aim@sha256:0", ""), "unchecked", "the operator's build can't be told"),
    ],
)
def test_what_is_said(crds, operator, answer, said):
    line = same_build(crds, operator, "it may not be read")
    assert (line.code, line.answer) == ("SameBuild", answer)
    assert said in line.message
    assert len(line.evidence) == len(crds) + 1
    assert line.evidence[-1] == ("operator: " + (operator.image if operator else "it may not be read"))


@pytest.mark.parametrize(
    ("image", "labels", "version"),
    [
        ("docker.io/amdenterpriseai/aim-engine:0.3.1", {}, "0.3.1"),
        ("registry:5000/aim-engine", {}, ""),
        ("registry:5000/aim-engine:0.3.1@sha256:abc", {}, "0.3.1"),
        ("registry/aim-engine@sha256:abc", {}, ""),
        ("registry/aim-engine:dirty", {V: "0.3.1"}, "0.3.1"),
    ],
)
def test_the_version_is_the_label_else_the_tag(image, labels, version):
    deployment = {
        "metadata": {"labels": labels}, "spec": {"template": {"spec": {"containers": [{"image": image}]}}},
    }  # fmt: skip
    operator = operator_of(deployment)
    assert (operator.image, operator.version) == (image, version)


def test_a_deployment_without_containers():
    assert operator_of({"metadata": {}}).image == ""
