"""Asking a real API server for its verdict on every widget, expression and schema.

``python -m tests.aim_schema.live`` records the verdicts in the JSON files of this folder.
"""

import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from aim_api.tree import Json, JsonObject, get, get_objects, get_str
from tests.aim_schema import widgets
from tests.aim_schema.expressions import EXPRESSIONS, SAMPLE, SAMPLE_SCHEMA
from tests.aim_schema.schemas import SCHEMAS
from tests.controlplane.build import programs_folder
from tests.support.controlplane.crds import CRDS_PATH, install_crds
from tests.support.controlplane.server import ControlPlane, run_control_plane

NAME = "example"
FOLDER = Path(__file__).parent


def sorted_causes(causes: Sequence[tuple[str, str, str]]) -> list[Json]:
    """Return causes as they are recorded: sorted, since the API server walks maps in no order."""
    return [list(cause) for cause in sorted(causes)]


def causes_of(body: Json) -> list[Json]:
    """Return the causes of a refusal."""
    return sorted_causes(
        [
            (get_str(each, "reason") or "", get_str(each, "field") or "", get_str(each, "message") or "")
            for each in get_objects(body, "details", "causes")
        ]
    )


def widget(spec: JsonObject, version: str = "v1", **more: Json) -> JsonObject:
    """Return a widget."""
    metadata: JsonObject = {"name": NAME}
    return {
        "apiVersion": f"{widgets.GROUP}/{version}",
        "kind": widgets.KIND,
        "metadata": metadata,
        "spec": spec,
        **more,
    }


def shown(stored: Json, sent: Json) -> Json:
    """Return what is stored of a spec or a status; defaults that every widget gets are shown for the empty one only."""
    if not isinstance(stored, dict) or not isinstance(sent, dict) or not sent:
        return stored
    return {key: value for key, value in stored.items() if key in sent or not key.startswith("default")}


class Widgets:
    """Creates and updates widgets on a real API server."""

    def __init__(self, plane: ControlPlane, namespace: str) -> None:
        install_crds(plane, [widgets.CRD])
        self.client = plane.client()
        self.namespace = namespace

    def _path(self, version: str) -> str:
        return f"/apis/{widgets.GROUP}/{version}/namespaces/{self.namespace}/{widgets.PLURAL}"

    def create(self, spec: JsonObject) -> Json:
        """Return the stored spec, or the causes of the refusal."""
        answer = self.client.post(
            self._path("v1"), widget(spec), query={"dryRun": "All", "fieldValidation": "Ignore"}
        ).expect(201, 422)
        return causes_of(answer.body) if answer.status == 422 else shown(get(answer.body, "spec"), spec)

    def unknown_fields(self, spec: JsonObject) -> list[str]:
        """Return the fields that strict decoding refuses."""
        answer = self.client.post(self._path("v1"), widget(spec), query={"dryRun": "All", "fieldValidation": "Strict"})
        message = get_str(answer.body, "message") or ""
        return re.findall(r'unknown field "([^"]*)"', message)

    def update(self, old: JsonObject, new: JsonObject) -> Json:
        """Return the stored spec after an update from ``old``, or the causes of the refusal."""
        return self._replace(widget(old, "v1lax"), {"spec": new}, "", "spec")

    def update_status(self, old: JsonObject, new: JsonObject) -> Json:
        """Return the stored status after an update from ``old``, or the causes of the refusal."""
        return self._replace(widget({}, "v1lax", status=old), {"status": new}, "/status", "status")

    def _replace(self, old: JsonObject, change: JsonObject, subresource: str, kept: str) -> Json:
        lax = f"{self._path('v1lax')}/{NAME}"
        try:
            created = self.client.post(self._path("v1lax"), old).expect(201).object
            if "status" in old:
                created = self.client.put(f"{lax}/status", {**created, "status": old["status"]}).expect(200).object
            stored = {**created, "apiVersion": f"{widgets.GROUP}/v1", **change}
            target = f"{self._path('v1')}/{NAME}{subresource}"
            answer = self.client.put(target, stored, query={"fieldValidation": "Ignore"}).expect(200, 422)
            return causes_of(answer.body) if answer.status == 422 else shown(get(answer.body, kept), change[kept])
        finally:
            self.client.delete(lax).expect(200, 404)


def widget_verdicts(plane: ControlPlane, namespace: str) -> dict[str, Json]:
    """Return the answers to every case."""
    server = Widgets(plane, namespace)
    return {
        "creates": [server.create(spec) for spec in widgets.CREATES],
        "unknown": [list[Json](server.unknown_fields(spec)) for spec in widgets.CREATES],
        "updates": [server.update(old, new) for old, new in widgets.UPDATES],
        "statuses": [server.update_status(old, new) for old, new in widgets.STATUSES],
    }


def schema_verdicts(plane: ControlPlane, _namespace: str) -> dict[str, Json]:
    """Return the complaints about every schema; none where it is accepted."""
    client, found = plane.client(), dict[str, Json]()
    for name, schema in SCHEMAS.items():
        answer = client.post(CRDS_PATH, _definition("schema", schema), query={"dryRun": "All"}).expect(201, 422)
        found[name] = [] if answer.status == 201 else _without_numbers(causes_of(answer.body))
    return found


def _without_numbers(value: Json) -> Json:
    """Type names carry a number that is new each time."""
    renamed: Json = json.loads(re.sub(r"selfType[0-9]+", "selfType", json.dumps(value)))
    return renamed


_BATCH = 30


def expression_verdicts(plane: ControlPlane, namespace: str) -> dict[str, Json]:
    """Return for each expression True, the text of its failure, or what the compiler says."""
    verdicts: dict[str, Json] = {}
    for start in range(0, len(EXPRESSIONS), _BATCH):
        batch = EXPRESSIONS[start : start + _BATCH]
        verdicts.update(_batch_verdicts(plane, namespace, f"probe{start // _BATCH}", batch))
    return {expression: _without_numbers(verdicts[expression]) for expression in EXPRESSIONS}


def _batch_verdicts(plane: ControlPlane, namespace: str, name: str, batch: list[str]) -> Iterator[tuple[str, Json]]:
    client, accepted = plane.client(), dict(enumerate(batch))
    refused: dict[int, str] = {}
    while True:
        answer = client.post(CRDS_PATH, _probe(name, accepted), query={"dryRun": "All"}).expect(201, 422)
        if answer.status == 201:
            break
        for cause in get_objects(answer.body, "details", "causes"):
            place = (get_str(cause, "field") or "").partition("properties[e")[2].partition("]")[0]
            if place:
                refused.setdefault(int(place), refusal(get_str(cause, "message") or ""))
        assert refused, answer
        accepted = {index: each for index, each in accepted.items() if index not in refused}
    yield from ((batch[index], text) for index, text in refused.items())
    crd = _probe(name, accepted)
    install_crds(plane, [crd])
    values: JsonObject = {f"e{index}": SAMPLE for index in accepted}
    body: JsonObject = {"apiVersion": "probe.example.com/v1", "kind": name.capitalize(), "metadata": {"name": "x"}}
    path = f"/apis/probe.example.com/v1/namespaces/{namespace}/{name}s"
    answer = client.post(path, {**body, **values}, query={"dryRun": "All"}).expect(201, 422)
    failures = {str(field): message for _, field, message in causes_of(answer.body)}  # type: ignore[misc]
    yield from ((each, failures.get(f"e{index}", True)) for index, each in accepted.items())


def refusal(message: str) -> str:
    """Return what a complaint about a rule says, without the rule and the marked line."""
    return "refused: " + message.rpartition("}: ")[2].partition("\n")[0]


def probed(expression: str) -> JsonObject:
    """Return the schema of a sample that an expression is evaluated on."""
    return {**SAMPLE_SCHEMA, "x-kubernetes-validations": [{"rule": expression, "message": "broken"}]}


def _probe(name: str, expressions: dict[int, str]) -> JsonObject:
    properties: JsonObject = {f"e{index}": probed(each) for index, each in expressions.items()}
    return _definition(name, {"type": "object", "properties": properties})


def _definition(name: str, schema: JsonObject) -> JsonObject:
    version: JsonObject = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{name}s.probe.example.com"},
        "spec": {
            "group": "probe.example.com",
            "scope": "Namespaced",
            "names": {"plural": f"{name}s", "singular": name, "kind": name.capitalize()},
            "versions": [version],
        },
    }


VERDICTS = {"widgets": widget_verdicts, "expressions": expression_verdicts, "schemas": schema_verdicts}


def recorded(name: str) -> dict[str, Json]:
    """Return the recorded verdicts of one kind."""
    found: dict[str, Json] = json.loads((FOLDER / f"recorded_{name}.json").read_text())
    return found


def record() -> None:
    """Record the verdicts of a control plane that is started for it."""
    with tempfile.TemporaryDirectory() as folder, run_control_plane(programs_folder(), Path(folder)) as plane:
        for name, ask in VERDICTS.items():
            (FOLDER / f"recorded_{name}.json").write_text(_written(ask(plane, "default")))


def _written(verdicts: dict[str, Json]) -> str:
    """Return verdicts with one line for each."""

    def line(value: Json) -> str:
        return json.dumps(value, ensure_ascii=False, sort_keys=True)

    entries: list[str] = []
    for name, value in verdicts.items():
        lines = ",\n  ".join(map(line, value)) if isinstance(value, list) else ""
        entries.append(f"{line(name)}: [\n  {lines}\n ]" if lines else f"{line(name)}: {line(value)}")
    return "{\n " + ",\n ".join(entries) + "\n}\n"


if __name__ == "__main__":
    record()
