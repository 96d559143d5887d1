"""Manifests that match a cluster after ``apply --commit``, so that Git can follow without expiring a pin (pure).

A service gets exactly what its ``CutOver`` step wrote; a profile that the plan created is written beside the template
that it was made from. Templates, template caches and models stay, in the cluster and here: removing a manifest could
make a GitOps controller delete the object (R, "Dry-run and commit").
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aim_api.kinds import AIM_PROFILE, AIM_SERVICE, AIM_SERVICE_TEMPLATE
from aim_api.tree import JsonObject, get_map, get_str, key_of_pointer_part
from aim_template_migration.documents.plan import CutOver, Plan, Unit
from aim_template_migration.manifests.converting import (
    Conversion,
    LedgerWriter,
    change_of,
    write_changes,
)
from aim_template_migration.manifests.kustomizations import kustomizations
from aim_template_migration.manifests.kustomized_changes import passed_over
from aim_template_migration.manifests.located import Located, ManifestFile, located_objects
from aim_template_migration.manifests.rewriting import NewObject, ObjectChange
from aim_template_migration.mapping.fates import Fate, FateTable, FieldFate
from aim_template_migration.mapping.recipes.conversion import is_aim_object
from aim_template_migration.mapping.recipes.draft import Draft, id_of, object_id
from aim_template_migration.mapping.recipes.ledger import Gap
from aim_template_migration.mapping.recipes.versions import to_v1alpha2

_TABLE = FateTable(
    "AIMService",
    tuple(
        FieldFate(path, Fate.MAPPED, f"AIMService.{path.removesuffix('.**')}", "the cutover left it as it was")
        for path in ("apiVersion", "kind", "metadata.**", "spec.**", "status.**")
    ),
)
_SUCCEEDED = "succeeded"
_AFTERWARDS = (
    "this is the manifest of after the cutover, and there is no result of a commit; applied before the unit is cut "
    "over, it rolls the workload"
)


@dataclass(frozen=True, slots=True)
class Followed:
    """What the manifests follow.

    Attributes:
        plan: the plan.
        statuses: status by unit of the committed run, None where there is no result of one.
        namespace: the namespace of objects that state none.
    """

    plan: Plan
    statuses: Mapping[str, str] | None
    namespace: str = ""


def follow_plan(files: Sequence[ManifestFile], followed: Followed) -> Conversion:
    """Return the files as the cluster is after the cutover; every other object stays as it is."""
    follower = _Follower(files, followed)
    located = located_objects(files)
    changes = [follower.change(item) for item in located]
    kustomized = kustomizations(files, located) if any(changes) else []
    for item, path, sentence in passed_over(kustomized):
        follower.writer.add_needs(item, [Gap(id_of(item.place.value), path, path, sentence)])
    return Conversion(write_changes(files, located, changes, follower.writer), follower.writer.ledger())


class _Follower:
    """Decides object by object."""

    def __init__(self, files: Sequence[ManifestFile], followed: Followed) -> None:
        self.writer = LedgerWriter(files)
        self._namespace = followed.namespace
        self._statuses = followed.statuses
        self._units = {unit.id: unit for unit in followed.plan.units}
        self._targets = {target.id: target.body for target in followed.plan.targets}
        objects = [item.place.value for item in located_objects(files)]
        self._present = {self._id(value, get_str(value, "kind") or "") for value in objects if is_aim_object(value)}
        self._written: set[str] = set()

    def change(self, item: Located) -> ObjectChange | None:
        """Return what becomes of one object, None where it stays."""
        value = item.place.value
        kind = get_str(value, "kind")
        if not is_aim_object(value):
            return None
        if kind == AIM_SERVICE_TEMPLATE.name:
            return self._with_profile(item, self._id(value, AIM_PROFILE.name))
        return self._service(item) if kind == AIM_SERVICE.name else None

    def _id(self, value: JsonObject, kind: str) -> str:
        namespace = get_str(value, "metadata", "namespace") or self._namespace
        return object_id(kind, namespace, get_str(value, "metadata", "name") or "")

    def _service(self, item: Located) -> ObjectChange | None:
        unit_id = self._id(item.place.value, AIM_SERVICE.name)
        unit = self._units.get(unit_id)
        obstacle = self._obstacle(unit_id, unit)
        if obstacle or unit is None:
            self.writer.fault(item, obstacle)
            return None
        cut_over = next((step for step in unit.steps if isinstance(step, CutOver)), None)
        if cut_over is None:
            return None
        draft = _cut_over(item.place.value, cut_over)
        self.writer.add(item, draft, draft.fates())
        if self._statuses is None:
            self.writer.note(item, (), _AFTERWARDS)
        change = change_of(item, draft)
        profile = object_id(AIM_PROFILE.name, cut_over.service.namespace, unit.resolved_profile)
        template = object_id(AIM_SERVICE_TEMPLATE.name, cut_over.service.namespace, unit.resolved_profile)
        if change is None or template in self._present:
            return change
        return ObjectChange(change.path, change.becomes, change.before, self._profile(profile, item))

    def _obstacle(self, unit_id: str, unit: Unit | None) -> str:
        if unit is None:
            return f"the plan has no unit {unit_id}; it stays as it is"
        if unit.outcome == "AlreadyMigrated":
            return f"{unit_id} was on the profile pipeline already; convert it without --plan"
        if unit.disposition != "automatic":
            return f"{unit_id} is {unit.disposition} in the plan ({unit.outcome}); it stays as it is"
        status = _SUCCEEDED if self._statuses is None else self._statuses.get(unit_id, "not in the result")
        return "" if status == _SUCCEEDED else f"{unit_id} was not cut over ({status}); it stays as it is"

    def _with_profile(self, item: Located, profile: str) -> ObjectChange | None:
        below = self._profile(profile, item)
        return ObjectChange(item.place.path, NewObject(item.place.value), (), below) if below else None

    def _profile(self, profile: str, item: Located) -> tuple[NewObject, ...]:
        """Return the profile that the plan created, unless the manifests have it already."""
        body = self._targets.get(profile)
        if body is None or profile in self._present or profile in self._written:
            return ()
        self._written.add(profile)
        stated = bool(get_str(item.place.value, "metadata", "namespace"))
        metadata = {key: value for key, value in get_map(body, "metadata").items() if stated or key != "namespace"}
        return (NewObject({**body, "metadata": metadata}),)


def _cut_over(value: JsonObject, cut_over: CutOver) -> Draft:
    """Return a service as the cutover's operations leave it."""
    draft = Draft(value, _TABLE)
    to_v1alpha2(draft)
    template, profile = ("spec", "template"), ("spec", "profile")
    for operation in cut_over.operations:
        path = tuple(key_of_pointer_part(part) for part in str(operation["path"]).split("/")[1:])
        if operation["op"] == "add" and path == profile:
            name = get_str(operation["value"], "name") or ""
            if draft.given(*template, "name") == name:
                draft.relocate(template, profile)
                draft.move((*template, "name"), (*profile, "name"), fate=Fate.RENAMED, reason="the profile is named")
            for other in [key for key in get_map(draft.source, *template) if key != "name" or not draft.get(*profile)]:
                draft.drop((*template, other), "the cutover removed spec.template")
            draft.drop(template, "the cutover removed spec.template")
            draft.put(profile, operation["value"])
        elif operation["op"] == "add" and path == ("metadata", "annotations"):
            for key, item in get_map(operation["value"]).items():
                draft.put((*path, key), item)
        elif operation["op"] == "add":
            draft.put(path, operation["value"])
    return draft
