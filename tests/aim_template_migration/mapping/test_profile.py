"""Template → profile: each field, its imputations, and what keeps the mapping from being complete."""

import pytest

from aim_template_migration.documents.codes import CODES
from aim_template_migration.mapping.profile import MappedProfile, ProfileSources, Source, map_profile

SOURCE = {"modelId": "qwen/qwen3-32b-fp8", "sourceUri": "hf://qwen/qwen3-32b-fp8"}
MODEL = {"spec": {"image": "amdenterpriseai/aim-qwen-qwen3-32b:0.8.5"}}


def mapped(
    spec: dict, status: dict | None = None, model: dict | None = MODEL, configs: tuple[dict, ...] = (), **more: object
) -> MappedProfile:
    template = {"metadata": more.pop("metadata", {}), "spec": {"modelName": "qwen", **spec}, "status": status or {}}
    sources = ProfileSources(
        target="AIMProfile/ml-team/t",
        template=Source("AIMServiceTemplate/ml-team/t", template),
        model=Source("AIMModel/ml-team/qwen", model) if model else None,
        runtime_configs=tuple(Source(f"config-{number}", config) for number, config in enumerate(configs)),
        **more,
    )
    return map_profile(sources)


def complete(**spec: object) -> dict:
    return {"aimId": "qwen/qwen3-32b", "modelId": "qwen/qwen3-32b-fp8", "modelSources": [SOURCE], **spec}


def problems(result: MappedProfile) -> list[tuple[str, str]]:
    return [(problem.code, problem.field) for problem in result.problems]


def rules(result: MappedProfile) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for item in result.imputations:
        assert CODES[item.rule].kind == "imputation"
        found.setdefault(item.field, []).append(item.rule)
    return found


def test_the_guides_example():
    """G, "AIMServiceTemplate → AIMProfile", in the shape that the served schema can hold."""
    result = mapped(
        complete(
            hardware={"gpu": {"model": "MI300X", "requests": 1}},
            precision="fp8",
            metric="throughput",
            env=[{"name": "AIM_ENGINE_ARGS", "value": '{"gpu-memory-utilization": "0.95"}'}],
        ),
        {"profile": {"metadata": {"engine": "vllm"}}, "modelSources": [SOURCE]},
    )
    assert result.problems == []
    assert result.spec == {
        "aimId": "qwen/qwen3-32b",
        "modelId": "qwen/qwen3-32b-fp8",
        "acceleratorModel": "MI300X",
        "acceleratorType": "gpu",
        "acceleratorCount": 1,
        "precision": "fp8",
        "metric": "throughput",
        "engine": "vllm",
        "image": "amdenterpriseai/aim-qwen-qwen3-32b:0.8.5",
        "engineArgs": {"gpu-memory-utilization": "0.95"},
        "modelSources": [SOURCE],
    }
    assert rules(result) == {
        "spec.image": ["FromModelImage"],
        "spec.engine": ["FromDiscoveredProfile"],
        "spec.acceleratorType": ["FromHardwareKind"],
        "spec.engineArgs": ["FromEngineArgsVariable"],
    }


def test_fields_that_stay():
    fields = {
        "profileId": "vllm-mi300x",
        "type": "unoptimized",
        "resources": {"limits": {"memory": "64Gi"}},
        "imagePullSecrets": [{"name": "pull"}],
        "serviceAccountName": "runner",
    }
    result = mapped(complete(**fields))
    assert result.spec.items() >= fields.items()
    assert result.problems == []


def test_a_discovered_template_is_filled_from_what_discovery_found():
    result = mapped(
        {"profileId": "p"},
        {
            "modelSources": [SOURCE],
            "resolvedHardware": {"gpu": {"model": "MI300X", "requests": 2, "resourceName": "amd.com/gpu"}},
            "profile": {
                "engine_args": {"dtype": "float16", "tensor-parallel-size": 2},
                "env_vars": {"VLLM_USE_V1": "1"},
                "metadata": {
                    "aimId": "qwen/qwen3-32b",
                    "modelId": "qwen/qwen3-32b-fp8",
                    "engine": "vllm",
                    "metric": "latency",
                    "precision": "fp16",
                    "type": "optimized",
                },
            },
        },
    )
    assert result.problems == []
    assert result.spec == {
        "profileId": "p",
        "aimId": "qwen/qwen3-32b",
        "modelId": "qwen/qwen3-32b-fp8",
        "image": "amdenterpriseai/aim-qwen-qwen3-32b:0.8.5",
        "engine": "vllm",
        "metric": "latency",
        "precision": "fp16",
        "type": "optimized",
        "acceleratorModel": "MI300X",
        "acceleratorCount": 2,
        "acceleratorType": "gpu",
        "engineArgs": {"dtype": "float16", "tensor-parallel-size": 2},
        "engineEnv": {"VLLM_USE_V1": "1"},
        "modelSources": [SOURCE],
    }
    assert rules(result)["spec.acceleratorModel"] == ["FromResolvedHardware"]
    assert rules(result)["spec.modelSources"] == ["FromDiscoveredModelSources"]


@pytest.mark.parametrize(
    ("spec", "status", "model", "expected", "rule"),
    [
        ({}, {"profile": {"metadata": {"aimId": "a/b"}}}, MODEL, "a/b", "FromDiscoveredProfile"),
        ({}, {}, {"spec": {"image": "i:1", "aimId": "a/c"}}, "a/c", "FromModelIdentity"),
        ({}, {}, {"spec": {"image": "i:1"}, "status": {"aimId": "a/d"}}, "a/d", "FromModelIdentity"),
        (
            {},
            {},
            {"spec": {"image": "i:1"}, "status": {"imageMetadata": {"model": {"canonicalName": "a/e"}}}},
            "a/e",
            "FromImageMetadata",
        ),
    ],
)
def test_where_the_aim_id_comes_from(spec, status, model, expected, rule):
    result = mapped({"modelSources": [SOURCE], "modelId": "x/y", **spec}, status, model)
    assert (result.spec["aimId"], rules(result)["spec.aimId"], result.problems) == (expected, [rule], [])


def test_the_canonical_name_gives_way_to_a_profile_that_exists():
    model = {"spec": {"image": "i:1"}, "status": {"imageMetadata": {"model": {"canonicalName": "A/E"}}}}
    result = mapped({"modelSources": [SOURCE]}, {}, model, existing={"spec": {"aimId": "a/e"}})
    assert "aimId" not in result.spec
    assert result.problems == []


def test_the_model_id_of_the_only_source():
    result = mapped({"aimId": "a/b", "modelSources": [SOURCE]})
    assert (result.spec["modelId"], rules(result)["spec.modelId"]) == ("qwen/qwen3-32b-fp8", ["FromModelSource"])


def test_the_deployment_image_annotation_wins():
    metadata = {"annotations": {"aim.eai.amd.com/deployment-image-ref": "tuned:2"}}
    result = mapped(complete(), metadata=metadata)
    assert (result.spec["image"], rules(result)["spec.image"]) == ("tuned:2", ["FromDeploymentImageAnnotation"])


def test_environments_merge_by_name_and_the_template_wins():
    result = mapped(
        complete(env=[{"name": "B", "value": "template"}]),
        configs=(
            {"spec": {"env": [{"name": "A", "value": "cluster"}, {"name": "B", "value": "cluster"}]}},
            {"spec": {"env": [{"name": "A", "value": "namespace"}]}},
        ),
    )
    assert result.spec["containerEnv"] == [{"name": "A", "value": "namespace"}, {"name": "B", "value": "template"}]
    (imputed,) = [item for item in result.imputations if item.rule == "FromRuntimeConfig"]
    assert imputed.value == [{"name": "A", "value": "namespace"}]


def test_engine_arguments_are_merged_deeply_from_every_place():
    result = mapped(
        complete(
            hardware={"gpu": {"model": "MI300X", "requests": 1}},
            metric="latency",
            precision="fp8",
            customProfile={"engineArgs": {"a": 1, "deep": {"x": 1, "y": 1}}, "envVars": {"E": "1"}},
            env=[{"name": "AIM_ENGINE_ARGS", "value": '{"deep": {"y": 3}}'}],
        ),
        configs=(
            {"spec": {"env": [{"name": "AIM_ENGINE_ARGS", "value": '{"a": 2, "b": 2, "deep": {"y": 2}}'}]}},
            {"spec": {"env": [{"name": "AIM_ENGINE_ARGS", "value": '{"b": 3}'}]}},
        ),
    )
    assert result.spec["engineArgs"] == {"a": 2, "b": 3, "deep": {"x": 1, "y": 3}}
    assert result.spec["engineEnv"] == {"E": "1"}
    assert "containerEnv" not in result.spec
    assert result.problems == []


def test_caching_is_carried_with_its_environment():
    result = mapped(complete(caching={"enabled": False, "env": [{"name": "A", "value": "1"}]}))
    assert result.spec["caching"] == {"env": [{"name": "A", "value": "1"}]}
    assert mapped(complete(caching={"enabled": True})).spec["caching"] == {"enabled": True}


@pytest.mark.parametrize(
    ("spec", "status", "model", "expected"),
    [
        (complete(), {}, None, [("ImputationNotSafe", "spec.image")]),
        (complete(), {}, {"spec": {"modelId": "a/b"}}, [("ImputationNotSafe", "spec.image")]),
        ({"aimId": "a/b", "modelId": "a/b"}, {}, MODEL, [("ImputationNotSafe", "spec.modelSources")]),
        ({"modelId": "a/b", "modelSources": [SOURCE]}, {}, MODEL, [("ImputationNotSafe", "spec.aimId")]),
        (
            {"aimId": "a/b", "modelSources": [SOURCE, {**SOURCE, "modelId": "c/d"}]},
            {},
            MODEL,
            [("ImputationNotSafe", "spec.modelId")],
        ),
        (
            complete(),
            {"modelSources": [{**SOURCE, "size": "1Gi"}]},
            MODEL,
            [("ImputationNotSafe", "spec.modelSources")],
        ),
        (complete(precision="auto"), {}, MODEL, [("ImputationNotSafe", "spec.precision")]),
        (complete(), {"profile": {"metadata": {"aimId": "other/id"}}}, MODEL, [("ImputationNotSafe", "spec.aimId")]),
        (
            complete(customProfile={"engineArgs": {"a": 1}}),
            {"profile": {"engine_args": {"b": 1}}},
            MODEL,
            [("ImputationNotSafe", "spec.engineArgs")],
        ),
        (
            complete(customProfile={"envVars": {"A": "1"}}),
            {"profile": {"env_vars": {"B": "1"}}},
            MODEL,
            [("ImputationNotSafe", "spec.engineEnv")],
        ),
        (
            complete(),
            {"profile": {"engine_args": "--dtype float16"}},
            MODEL,
            [("ImputationNotSafe", "spec.engineArgs")],
        ),
        (
            complete(),
            {"resolvedHardware": {"cpu": {"requests": "4"}}},
            MODEL,
            [("UnmappedField", "status.resolvedHardware.cpu")],
        ),
        (complete(engine="vllm"), {}, MODEL, [("UnmappedField", "spec.engine")]),
    ],
)
def test_what_keeps_a_mapping_from_being_complete(spec, status, model, expected):
    assert problems(mapped(spec, status, model)) == expected


def test_precision_auto_is_replaced_by_what_discovery_found():
    result = mapped(complete(precision="auto"), {"profile": {"metadata": {"precision": "fp8"}}})
    assert (result.spec["precision"], rules(result)["spec.precision"]) == ("fp8", ["FromDiscoveredProfile"])
