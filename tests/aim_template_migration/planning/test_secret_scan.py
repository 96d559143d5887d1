"""A fixed positive corpus is found whole, and what clean fleets hold gives no false alarm.

The tokens are made up and assembled here, so that no scanner of this repository takes them for real ones.
"""

import json
import re

import pytest

from aim_template_migration.planning import secret_scan
from aim_template_migration.planning.secret_scan import MARKER, looks_secret, redact, redact_about, sanitise
from tests.support.fleet import happy_fleet

LETTERS = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAbCdEfGhIjKlMnOpQrStUvWxYz0123456789"


def token(prefix: str, length: int, alphabet: str = LETTERS) -> str:
    return prefix + (alphabet * 4)[:length]


TOKENS = {
    "Hugging Face": token("hf_", 34),
    "Hugging Face organisation": token("api_org_", 34),
    "AWS access key": "AKIA" + "IOSFODNN7EXAMPL2",
    "AWS temporary key": "ASIA" + "IOSFODNN7EXAMPL2",
    "GitHub": token("ghp_", 36),
    "GitHub fine-grained": token("github_pat_", 60),
    "GitLab": token("glpat-", 20),
    "Slack": "xoxb-123456789012-123456789012-" + "abcdefabcdefabcdefabcdef",
    "Slack webhook": "https://hooks.slack.com/services/" + "T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
    "JWT": "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0." + "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    "OpenAI": token("sk-proj-", 48),
    "Anthropic": token("sk-ant-api03-", 48),
    "NVIDIA": token("nvapi-", 60),
    "Google": token("AIza", 35),
    "Stripe": token("sk_live_", 24),
    "SendGrid": "SG." + token("", 22) + "." + token("", 43),
    "PyPI": token("pypi-AgEIcHlwaS5vcmc", 80),
    "private key": "-----BEGIN " + "RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
    "OpenSSH key": "-----BEGIN " + "OPENSSH PRIVATE KEY-----",
    "password in a URL": "https://user:" + "hunter22@registry.example.org/v2",
    "password without a user": "redis://:" + "hunter22@cache:6379/0",
    "token as a URL's user": "https://" + token("", 40) + "@github.com/org/repo",
    "signed URL": "https://bucket.s3.amazonaws.com/w?X-Amz-Signature=" + "0123456789abcdef" * 4,
    "SAS": "https://acct.blob.core.windows.net/c?sv=2024-01-01&sig=" + "abcdefghijklmnop%3D",
    "token in a query": "https://hub.example.org/api?token=" + "abcd1234efgh",
    "Azure connection string": "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=" + "A" * 86 + "==",
    "bearer header": "Authorization: Bearer " + token("", 40),
    "basic header": "Basic " + "dXNlcjpodW50ZXIyMmh1bnRlcjIy",
    "argument": "--api-key=" + "hunter22hunter22",
    "Databricks": "dapi" + "0123456789abcdef" * 2,
    "Telegram": "123456789:" + token("", 35),
    "Twilio": "SK" + "0123456789abcdef" * 2,
}

NAMED = {
    "HF_TOKEN": "not-a-known-shape",
    "HUGGING_FACE_HUB_TOKEN": "abc",
    "AWS_SECRET_ACCESS_KEY": "wJalr",
    "AWS_ACCESS_KEY_ID": "minio",
    "AWS_SESSION_TOKEN": "x",
    "DB_PASSWORD": "p",
    "PGPASSWORD": "p",
    "MY_API_KEY": "k",
    "OPENAI_APIKEY": "k",
    "apiKey": "k",
    "api-key": "k",
    "client_secret": "c",
    "NGC_API_KEY": "n",
    "S3_SECRET_KEY": "k",
    "REGISTRY_CREDENTIALS": "u:p",
    "WANDB_API_KEY": "w",
    "passphrase": "open sesame",
    "authToken": "t",
}

HARMLESS_TEXTS = (
    "registry.example.org/aim/qwen-qwen3-32b:0.10.0",
    "registry.example.org/aim/qwen@sha256:" + "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "hf://Qwen/Qwen3-32B-FP8",
    "s3://acme-models/custom-transformer/v3",
    "qwen3-32b-mi300x-fp8-tp1-latency-cache-bf65deff",
    "hf---qwen-qwen3-32b-6c1a570b2b-cache-5b85498a",
    "vllm-mi300x-fp16-tp1-latency",
    "/workspace/cache/Qwen/Qwen3-32B-FP8",
    "11111111-0000-4000-8000-000000000001",
    "https://hub.example.org/api/models?revision=main",
    "http://user@example.org/",
    "keda-otel-scaler.keda.svc:4317",
    'sum(vllm:num_requests_running{namespace="${namespace}",service="${serviceName}"})',
    "amd/Llama-3.3-70B-Instruct-FP8-KV",
    "The template pipeline resolved 2 model sources.",
    '{"gpu-memory-utilization": 0.95, "max-model-len": 32768, "tokenizer-mode": "auto"}',
)

HARMLESS_NAMED = {
    "MAX_TOKENS": "4096",
    "max-num-batched-tokens": "8192",
    "tokenizer": "Qwen/Qwen3-32B",
    "tokenizer-mode": "mistral",
    "HF_TOKEN_PATH": "/var/run/secrets/token",
    "stop-token": "<|im_end|>",
    "STOP_TOKEN_IDS": "151645",
    "secretName": "hf-token",
    "AIM_PROFILE_ID": "vllm-mi300x-fp8-tp1-latency",
    "VLLM_USE_V1": "1",
    "HF_TOKEN": "$(TOKEN_FROM_SECRET)",
    "API_KEY": "",
    "ENABLE_AUTH_TOKEN": "true",
    "keyboard": "qwerty",
    "monkey": "banana",
    "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
    "token_limit": "none given",
    "REVISION": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    "IMAGE_DIGEST": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
}


def env(name: str, value: str) -> dict:
    return {"kind": "X", "spec": {"containers": [{"env": [{"name": name, "value": value}]}]}}


@pytest.mark.parametrize("name", TOKENS)
def test_a_token_is_found_wherever_it_stands(name: str):
    secret = TOKENS[name]
    for obj in (
        env("MODEL_SOURCE", secret),
        {"spec": {"engineArgs": {"served-model-name": secret}}},
        {"spec": {"args": ["--x", secret]}},
        {"metadata": {"annotations": {"note": f"see {secret}"}}},
        {"metadata": {"annotations": {"last": json.dumps({"spec": {"note": secret}})}}},
        {"spec": env("AIM_ENGINE_ARGS", json.dumps({"x": {"y": secret}}))},
        {"status": {"profile": {"env_vars": {"A": secret}}}},
    ):
        clean, hits = sanitise(obj)
        assert hits
        assert secret not in json.dumps(clean)
        assert MARKER in json.dumps(clean)
        assert all(secret not in hit.field + hit.what for hit in hits)


@pytest.mark.parametrize("name", NAMED)
def test_a_value_is_a_secret_by_its_name(name: str):
    value = NAMED[name]
    for obj in (env(name, value), {"spec": {"engineArgs": {name: value}}}, {"spec": {"engineEnv": {name: value}}}):
        clean, hits = sanitise(obj)
        assert len(hits) == 1
        assert json.dumps(value) not in json.dumps(clean).replace(json.dumps(name), "")
    nested = env("AIM_ENGINE_ARGS", json.dumps({name: value}))
    assert len(sanitise(nested)[1]) == 1


@pytest.mark.parametrize("text", HARMLESS_TEXTS)
def test_what_clean_fleets_hold_is_no_secret(text: str):
    obj = {"metadata": {"annotations": {"note": text}}, "spec": {**env("NOTE", text)["spec"], "args": [text]}}
    assert sanitise(obj) == (obj, ())
    assert redact(text) == text


@pytest.mark.parametrize("name", HARMLESS_NAMED)
def test_a_harmless_value_stays_whatever_its_name(name: str):
    obj = env(name, HARMLESS_NAMED[name])
    assert sanitise(obj) == (obj, ())
    spec = {"spec": {"engineArgs": {name: HARMLESS_NAMED[name]}}}
    assert sanitise(spec) == (spec, ())


def test_references_to_secrets_are_no_secrets():
    obj = {
        "spec": {
            "env": [{"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf-token", "key": "token"}}}],
            "imagePullSecrets": [{"name": "registry-pull-secret"}],
            "artifact": {
                "s3": {
                    "auth": {
                        "mode": "static",
                        "credentialsSecretRef": {
                            "name": "s3-credentials",
                            "accessKeyIdKey": "accessKeyId",
                            "secretAccessKeyKey": "secretAccessKey",
                        },
                    }
                }
            },
            "imageMetadata": {"model": {"hfTokenRequired": True}},
        }
    }
    assert sanitise(obj) == (obj, ())


def test_a_random_token_under_an_innocent_name():
    secret = "Zk3Qp9XvT1mWb7RcYd5NsHj2LfGa8Ue4"
    assert sanitise(env("MODEL_SETTING", secret))[1]
    digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    assert sanitise(env("MODEL_SETTING", digest))[1]
    assert not sanitise({"metadata": {"annotations": {"content-hash": digest}}})[1]


def test_identity_is_never_replaced():
    metadata = {"name": TOKENS["GitLab"], "namespace": "n", "uid": "u", "ownerReferences": [{"name": TOKENS["GitLab"]}]}
    obj = {"metadata": metadata}
    assert sanitise(obj) == (obj, ())


def test_messages_keep_their_words():
    text = f"admission refused the value {TOKENS['GitHub']} of HF"
    assert redact(text) == f"admission refused the value {MARKER} of HF"
    assert looks_secret("short") == ""


HEX = "deadbeefdeadbeef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ('env {"name":"DB_PASSWORD","value":"correct-horse"} no', 'env {"name":"DB_PASSWORD","value":"@"} no'),
        ('{"name": "X", "value": "a \\"quoted\\" word"}', '{"name": "X", "value": "@"}'),
        (r'"{\"name\":\"X\",\"value\":\"correct-horse\"}"', r'"{\"name\":\"X\",\"value\":\"@\"}"'),
        ("map[name:DB_PASSWORD value:correct horse] no", "map[name:DB_PASSWORD value:@] no"),
        ('spec.env[0].value: Invalid value: "hunter2": no', 'spec.env[0].value: Invalid value: "@": no'),
        ('spec.hfToken: Invalid value: "a \\"b\\" c": no', 'spec.hfToken: Invalid value: "@": no'),
        ("denied: password: Sup3rSecretPw is weak", "denied: password: @ is weak"),
        ('{"clientSecret": "open sesame", "a": 1}', '{"clientSecret": @, "a": 1}'),
        ('metadata.annotations.a: Invalid value: "hunter22": no', 'metadata.annotations.a: Invalid value: "@": no'),
        (
            '[metadata.name: Invalid value: "A_b": no, spec.x: Invalid value: "hunter22": no]',
            '[metadata.name: Invalid value: "A_b": no, spec.x: Invalid value: "@": no]',
        ),
        ("DB_PASSWORD=hunter2 is weak", "@ is weak"),
        (f"token {HEX} not accepted", "token @ not accepted"),
        (f"sent Authorization: Bearer {'a1B2' * 8} to it", "sent Authorization: @ to it"),
        ("key -----BEGIN " + "PRIVATE KEY-----\nMIIE\nabcd\n-----END PRIVATE KEY----- no", "key @ no"),
        ("key -----BEGIN " + "PRIVATE KEY-----\nMIIE\nabcd", "key @"),
    ],
)
def test_quoted_values_are_replaced_for_their_place_or_name(text: str, clean: str):
    assert redact(text) == clean.replace("@", MARKER)
    assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize(
    "text",
    [
        'metadata.name: Invalid value: "Not_A_Name": a lowercase RFC 1123 subdomain must consist of',
        'metadata.generateName: Invalid value: "UP_": a lowercase RFC 1123 subdomain must consist of',
        'metadata.labels: Invalid value: "1:20": a valid label must be an empty string or consist of',
        'metadata.labels: Invalid value: "a b": name part must consist of',
        'metadata.annotations: Invalid value: "a b": name part must consist of',
        'metadata.finalizers: Invalid value: "x y/z": prefix part a lowercase RFC 1123 subdomain must consist of',
        'metadata.ownerReferences.apiVersion: Invalid value: "a/b/c": version must not be empty',
        'spec: Invalid value: "object": profile and template exclude each other',
        "spec.imagePullSecrets: Required value: name at least one",
        "spec.replicas: Invalid value: 0: must be at least 1",
        '{"name":"VLLM_USE_V1","value":"1"}',
        'secrets "hf-token" is forbidden: User "migrator" cannot get resource "secrets" in API group ""',
        "spec.secretName: Unsupported value: x",
        "image r.example/aim@sha256:" + HEX,
        "AIMService team-a/chat: uid 11111111-1111-4111-8111-111111111111, resourceVersion: 4711",
    ],
)
def test_what_explains_a_refusal_stays(text: str):
    assert redact(text) == text


@pytest.mark.parametrize(
    ("field", "message", "clean"),
    [
        ("metadata.name", 'Invalid value: "A_b": no', 'Invalid value: "A_b": no'),
        ("metadata.labels.a/b", 'Invalid value: "c:d": no', 'Invalid value: "c:d": no'),
        ("metadata.labels.hf_token", 'Invalid value: "c d": no', 'Invalid value: "c d": no'),
        ("metadata.finalizers[0]", 'Invalid value: "a b": no', 'Invalid value: "a b": no'),
        ("metadata.ownerReferences[1].uid", 'Invalid value: "": no', 'Invalid value: "": no'),
        ("metadata.labels.a", f'Invalid value: "{TOKENS["Hugging Face"]}+": no', "Invalid value: @ no"),
        (f"metadata.labels.{TOKENS['Hugging Face']}", 'Invalid value: "c d": no', 'Invalid value: "@": no'),
        ("metadata.labels.token", "json: cannot unmarshal number", "json: cannot unmarshal number"),
        ("spec.replicas", 'Invalid value: "hunter22": no', 'Invalid value: "@": no'),
        ("spec.token", 'unknown field "spec.token"', 'unknown field "spec.token"'),
    ],
)
def test_names_in_a_message_about_a_field_stay(field: str, message: str, clean: str):
    assert redact_about(field, message) == clean.replace("@", MARKER)


def test_a_clean_fleet_gives_no_alarm():
    snapshot = happy_fleet().snapshot()
    assert [item.secrets for item in snapshot.namespace("team-a").every() if item.secrets] == []


@pytest.mark.parametrize("name", TOKENS)
def test_the_quick_way_out_for_names_misses_no_token_in_lower_case(name: str):
    """What the detectors find in a text of lower-case letters, digits and ``./:-`` is found all the same."""
    text = re.sub(r"[^a-z0-9./:-]", "", TOKENS[name].lower())
    found = [what for what, pattern in secret_scan._patterns() if pattern.search(text)]
    found += [item.secret_type for item in secret_scan._detectors() if any(True for _ in item.analyze_string(text))]
    assert looks_secret(text) == (found[0] if found else "")
