"""A real API server that stores the objects of the rule cases as if the rules had come later."""

from collections.abc import Iterator
from contextlib import contextmanager

from aim_api.crds import load_crds
from aim_api.kinds import Kind
from aim_api.tree import Json, JsonObject, get, get_map
from tests.aim_api.crd_cases import RuleCase, rule_cases
from tests.support.controlplane.client import Answer
from tests.support.controlplane.crds import install_crds
from tests.support.controlplane.server import ControlPlane

STRICT = {"fieldValidation": "Strict", "fieldManager": "tests"}
DRY_RUN = {**STRICT, "dryRun": "All"}

CASES = rule_cases()


def without_rules(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: without_rules(item) for key, item in value.items() if key != "x-kubernetes-validations"}
    return [without_rules(item) for item in value] if isinstance(value, list) else value


class RuleServer:
    """The control plane with all definitions, and with the objects that were stored before their rules existed."""

    def __init__(self, plane: ControlPlane, namespace: str) -> None:
        self.plane = plane
        self.namespace = namespace
        self.stored: dict[str, JsonObject] = {}

    def path(self, kind: Kind, name: str | None = None, subresource: str | None = None) -> str:
        return kind.path(self.namespace if kind.namespaced else None, name, subresource)

    def store_old_objects(self) -> None:
        for case in CASES:
            if case.old is not None:
                answer = self.plane.client().post(self.path(case.old_kind), case.old, query=STRICT)
                self.stored[str(case)] = answer.expect(201).object

    def remove_old_objects(self) -> None:
        for case in CASES:
            if case.old is not None:
                self.plane.client().delete(self.path(case.kind, case.name)).expect(200)

    def send(self, case: RuleCase) -> Answer:
        """Send a case as a dry run: nothing is stored, so that it can be sent again."""
        if case.old is None:
            return self.plane.client().post(self.path(case.kind), case.object, query=DRY_RUN)
        return self.plane.client().put(self.path(case.kind, case.name), self.updated(case), query=DRY_RUN)

    def updated(self, case: RuleCase) -> JsonObject:
        version = get(self.stored[str(case)], "metadata", "resourceVersion")
        return {**case.object, "metadata": {**get_map(case.object, "metadata"), "resourceVersion": version}}

    def wait_for_rules(self) -> None:
        """Wait until each definition's newest rules are asked; its endpoints change one after the other."""
        for kind in {case.kind for case in CASES}:
            refused = next(case for case in CASES if case.kind == kind and is_refused_by_a_rule(case))
            self.plane.wait_until(lambda case=refused: self.send(case).status == 422, f"the rules of {kind.name} hold")  # type: ignore[misc]


def is_refused_by_a_rule(case: RuleCase) -> bool:
    return case.refused is not None and not case.refused.startswith("unknown field")


@contextmanager
def run_rule_server(aim_plane: ControlPlane) -> Iterator[RuleServer]:
    """Store the old objects of the rule cases while the definitions have no rules, then put the rules back."""
    definitions = load_crds()
    server = RuleServer(aim_plane, aim_plane.create_namespace())
    install_crds(aim_plane, [dict(get_map(without_rules(crd))) for crd in definitions])
    try:
        aim_plane.wait_until(lambda: _stores_anything(server), "the definitions without rules are in use")
        server.store_old_objects()
    finally:
        install_crds(aim_plane, definitions)
    server.wait_for_rules()
    yield server
    server.remove_old_objects()
    aim_plane.delete_namespace(server.namespace)


def _stores_anything(server: RuleServer) -> bool:
    olds = {case.old_kind: case for case in CASES if case.old is not None}
    creations = [
        server.plane.client().post(server.path(case.old_kind), case.old, query=DRY_RUN) for case in olds.values()
    ]
    return all(answer.status == 201 for answer in creations)
