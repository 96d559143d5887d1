"""Template selection and the predictor of the template pipeline."""

import json

import pytest

from aim_rehearsal.operator import NameFormulas, Settings, template_pipeline
from aim_rehearsal.operator.template_predictor import Inputs, predictor
from aim_rehearsal.operator.template_selection import derived_name, find_model, find_template
from aim_rehearsal.operator.writes import Render
from tests.aim_rehearsal.operator.objects import obj, service, view

MODEL = obj("AIMModel", "m", spec={"image": "r/x:1"}, status={"status": "Ready"})
SOURCE = {"modelId": "acme/tiny", "sourceUri": "hf://acme/tiny"}


def template(name="t", *, word="Ready", kind="optimized", namespace="team-a", spec=None, metadata=None, **gpu):
    status = {
        "status": word,
        "modelSources": [SOURCE],
        "profile": {"metadata": {"type": kind, "metric": "latency", "precision": "fp8"} | (metadata or {})},
        "resolvedHardware": {"gpu": {"model": "MI300X", "requests": 1} | gpu},
    }
    full = {"modelName": "m"} | (spec or {})
    kind_name = "AIMServiceTemplate" if namespace else "AIMClusterServiceTemplate"
    return obj(kind_name, name, spec=full, status=status, namespace=namespace)


def chosen(spec, *templates, **fields):
    one = service(spec={"model": {"name": "m"}} | spec, **fields)
    found = find_template(one, MODEL, view(one, MODEL, *templates))
    return found.object and found.object["metadata"]["name"], found.condition.reason


def test_a_named_template_is_looked_up_in_the_namespace_first():
    spec = {"template": {"name": " t "}}
    assert chosen(spec, template(), template(namespace=""))[1] == "Resolved"
    assert chosen(spec, template(namespace="")) == ("t", "Resolved")
    assert chosen(spec) == (None, "TemplateNotFound")
    assert chosen(spec, template(word="Progressing")) == ("t", "TemplateNotReady")


def test_the_resolved_template_sticks_while_it_is_ready():
    status = {"resolvedTemplate": {"name": "b", "scope": "Namespace"}}
    best = template("a", spec={"precision": "fp4"}, metadata={"precision": "fp4"})
    assert chosen({}, best, template("b"), status=status)[0] == "b"
    assert chosen({}, best, template("b", word="NotAvailable"), status=status)[0] == "a"


@pytest.mark.parametrize(
    ("spec", "templates", "expected"),
    [
        ({}, [template("a"), template("b", metadata={"metric": "throughput"})], ("a", "Resolved")),
        ({}, [template("a"), template("b")], (None, "TemplateSelectionAmbiguous")),
        ({}, [template("a", namespace=""), template("b", kind="preview")], ("a", "Resolved")),
        ({}, [template("a", kind="general")], (None, "TemplateNotFound")),
        ({"template": {"allowUnoptimized": True}}, [template("a", kind="unoptimized")], ("a", "Resolved")),
        ({}, [template("a", word="Progressing")], ("a", "TemplateNotReady")),
        ({}, [], (None, "TemplateNotFound")),
        ({"overrides": {"precision": "FP8"}}, [template("a")], ("a", "Resolved")),
        ({"overrides": {"hardware": {"gpu": {"requests": 2}}}}, [template("a")], (None, "TemplateNotFound")),
        ({}, [template("a", spec={"modelName": "other"})], (None, "TemplateNotFound")),
    ],
)
def test_automatic_selection(spec, templates, expected):
    assert chosen(spec, *templates) == expected


@pytest.mark.parametrize(
    ("reference", "models", "expected"),
    [
        ({"name": "m"}, [MODEL], ("m", "ModelResolved")),
        ({"name": "n"}, [MODEL], (None, "ModelNotFound")),
        ({"image": "r/x:1"}, [MODEL], ("m", "ModelResolved")),
        (
            {"image": "r/x:1"},
            [MODEL, obj("AIMClusterModel", "n", namespace="", spec={"image": "r/x:1"})],
            (None, "ModelNotFound"),
        ),
        ({"name": "m"}, [MODEL | {"status": {"status": "Progressing"}}], ("m", "ModelNotReady")),
    ],
)
def test_models_are_found_by_name_or_image(reference, models, expected):
    one = service(spec={"model": reference})
    found = find_model(one, view(one, *models))
    assert (found.object and found.object["metadata"]["name"], found.condition.reason) == expected


def test_overrides_derive_a_name():
    one = service(spec={"overrides": {"precision": "fp8", "hardware": {"gpu": {"model": "MI300X", "requests": 2}}}})
    assert derived_name(one, "t").startswith("t-ovr-mi300x-2gpu-fp8-")
    assert derived_name(service(), "t") == "t"


def env_of(service_spec, template_spec, config_env=()):
    one = service(spec={"model": {"name": "m"}} | service_spec)
    config = obj("AIMRuntimeConfig", "default", spec={"env": list(config_env)})
    made = predictor(Inputs(one, MODEL, template(spec=template_spec), None), None, view(one, config))
    (container,) = made["containers"]
    return [(item["name"], item.get("value")) for item in container["env"]]


def test_the_environment_is_merged_from_low_to_high_and_sorted():
    found = env_of(
        {"env": [{"name": "B", "value": "service"}]},
        {"env": [{"name": "A", "value": "template"}, {"name": "B", "value": "template"}], "metric": "latency"},
        [{"name": "A", "value": "config"}, {"name": "C", "value": "config"}],
    )
    assert found == [
        ("A", "template"),
        ("AIM_CACHE_PATH", "/workspace/cache"),
        ("AIM_METRIC", "latency"),
        ("B", "service"),
        ("C", "config"),
        ("VLLM_ENABLE_METRICS", "true"),
    ]


def test_engine_arguments_are_merged_as_json():
    name = "AIM_ENGINE_ARGS"
    found = dict(
        env_of(
            {"env": [{"name": name, "value": '{"a": {"x": 1}}'}]},
            {"env": [{"name": name, "value": '{"a": {"y": 2}, "b": 3}'}]},
        )
    )
    assert json.loads(found[name]) == {"a": {"x": 1, "y": 2}, "b": 3}


def test_inline_sources_name_the_model_to_the_container():
    found = dict(env_of({}, {"modelSources": [SOURCE], "profileId": "id"}))
    assert (found["AIM_MODEL_ID"], found["AIM_ID"], found["AIM_PROFILE_ID"]) == ("acme/tiny", "", "id")


def test_an_update_keeps_the_volumes_of_the_live_object_and_a_return_from_the_profile_pipeline_has_none():
    one, cache = service(), obj("AIMTemplateCache", "c")
    volume = {"name": "w", "persistentVolumeClaim": {"claimName": "kept"}}
    live = {
        "spec": {
            "predictor": {"containers": [{"volumeMounts": [{"name": "w", "mountPath": "/w"}]}], "volumes": [volume]}
        }
    }
    made = predictor(Inputs(one, MODEL, template(), cache), live, view(one))
    assert volume in made["volumes"]
    returned = predictor(Inputs(one, MODEL, template(), cache), {"spec": {"predictor": {"model": {}}}}, view(one))
    assert [item["name"] for item in returned["volumes"]] == ["dshm"]


def rendered(kind, *things, names=NameFormulas.NEWER, **spec):
    one = service(spec={"model": {"name": "m"}, "template": {"name": "t"}} | spec)
    outcome = template_pipeline.decide(one, view(one, MODEL, *things, settings=Settings(names=names)))
    found = [write.manifest for write in outcome.writes if isinstance(write, Render) and write.kind.name == kind]
    return found, outcome


def test_nothing_is_rendered_before_cache_and_template_are_ready():
    (cache,), outcome = rendered("AIMTemplateCache", template())
    assert cache["spec"] == {"templateName": "t", "templateScope": "Namespace", "mode": "Shared"}
    assert rendered("InferenceService", template())[0] == []
    assert {item.type: item.reason for item in outcome.conditions}["CacheReady"] == "CacheCreating"
    assert rendered("AIMTemplateCache", template(word="Progressing"))[0] == []


READY_CACHE = obj("AIMTemplateCache", "c", spec={"templateName": "t", "mode": "Shared"}, status={"status": "Ready"})


def test_the_inference_service_has_the_labels_of_the_template():
    (found,), outcome = rendered("InferenceService", template(), READY_CACHE)
    assert (
        found["metadata"]["labels"] | {"aim.eai.amd.com/template": "t", "aim.eai.amd.com/model": "m"}
        == found["metadata"]["labels"]
    )
    assert outcome.fields["cache"]["templateCacheRef"]["name"] == "c"


@pytest.mark.parametrize(("names", "suffix"), [(NameFormulas.NEWER, 2), (NameFormulas.OLDER, 1)])
def test_the_name_formulas_differ_between_operator_versions(names, suffix):
    from aim_api.names import derive_name

    (found,), _ = rendered("InferenceService", template(), READY_CACHE, names=names)
    inputs = ["team-a", "s"][:suffix]
    assert found["metadata"]["name"] == derive_name(["s"], inputs)
    (cache,), _ = rendered("AIMTemplateCache", template(), names=names)
    assert cache["metadata"]["name"] == derive_name(["t"], ["team-a", "t"][:suffix])


def test_a_missing_runtime_config_blocks():
    found, outcome = rendered("InferenceService", template(), READY_CACHE, runtimeConfigName="special")
    assert found == []
    assert {item.type: item.reason for item in outcome.conditions}["RuntimeConfigReady"] == "ReferenceNotFound"
