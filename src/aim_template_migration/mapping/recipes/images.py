"""What the reference of an image says, and the models of base images."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from aim_api.kinds import AIM_CLUSTER_MODEL, AIM_MODEL, Kind
from aim_api.names import derive_name
from aim_api.tree import Json, JsonObject, get, get_str
from aim_template_migration.mapping.defaulting import is_empty
from aim_template_migration.mapping.fates import Fate
from aim_template_migration.mapping.recipes.context import Context
from aim_template_migration.mapping.recipes.draft import Beside, Draft, copied, id_of, new_object
from aim_template_migration.mapping.recipes.ledger import Path

_DIGEST_DIGITS = 6
_PART = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_REFERENCE = re.compile(rf"{_PART}(?::[0-9]+)?(?:/{_PART})*(?::[A-Za-z0-9_][A-Za-z0-9._-]*)?(?:@[a-z0-9]+:[0-9a-f]+)?")


def is_reference(image: str) -> bool:
    """Return whether a text can be the reference of an image; a variable of a template is none."""
    return _REFERENCE.fullmatch(image) is not None


def image_tag(image: str) -> str:
    """Return the tag of an image reference, empty where it has none or names a digest."""
    if "@" in image:
        return ""
    return image.rpartition("/")[2].partition(":")[2]


def image_model_name(image: str) -> str:
    """Return the name that the template pipeline gives the AIMModel which it makes for ``spec.model.image``.

    The same name is taken, so that the object is updated that such a service has made already, instead of a second one
    being created (legacy pipeline facts, name formulas).
    """
    reference, _, digest = image.partition("@")
    name = reference.rpartition("/")[2].partition(":")[0]
    version = digest.rpartition(":")[2][:_DIGEST_DIGITS] if digest else image_tag(image) or "latest"
    return derive_name([name, version], [image])


@dataclass(frozen=True, slots=True)
class BaseModel:
    """The model of a base image.

    Attributes:
        reference: how others name it.
        value: the model.
        beside: the model where it is written for the object that is converted.
        is_written: it is written by this conversion, for this object or one before.
    """

    reference: JsonObject
    value: JsonObject
    beside: Beside | None = None
    is_written: bool = False


def base_model(draft: Draft, context: Context, image: str, place: Path, *, cluster: bool) -> BaseModel:
    """Return the model of a base image, which is written where there is none.

    Image and name are taken from the given values, from a model of the input that onboards the image, or left out.

    Args:
        draft: the conversion that needs the base image.
        context: what else is known.
        image: the image that the input states, or an empty text.
        place: where the input states it.
        cluster: whether the model is cluster-scoped.
    """
    wanted = context.values.text(draft.source, "baseImage") or image
    name = context.values.text(draft.source, "baseModelName")
    namespace = "" if cluster else draft.namespace
    known = context.model_of_image(draft, wanted, cluster=cluster) if wanted else None
    if known is not None and name in ("", get_str(known, "metadata", "name")):
        _account_image(draft, place, image, wanted, id_of(known))
        return BaseModel({"name": get_str(known, "metadata", "name") or ""}, known)
    kind = AIM_CLUSTER_MODEL if cluster else AIM_MODEL
    written = context.written_model(kind, draft, wanted, name) if wanted else None
    if written is not None:
        _account_image(draft, place, image, wanted, id_of(written))
        return BaseModel({"name": get_str(written, "metadata", "name") or ""}, written, is_written=True)
    beside = _new_base_model(draft, kind, name, namespace, wanted)
    if image:
        beside.origins["spec", "image"] = place
    _account_image(draft, place, image, wanted, beside.id)
    if name:
        context.note_model(draft, wanted, beside.value)
        return BaseModel({"name": name}, beside.value, beside, is_written=True)
    draft.need(
        ("metadata", "name"),
        "the AIMModel of the base image needs a name; state it by --values as baseModelName, or add that model to the "
        "input",
        near=place,
        object_=beside.id,
    )
    return BaseModel({}, beside.value, beside, is_written=True)


def share_with_base(draft: Draft, base: BaseModel, names: Sequence[str]) -> None:
    """Give settings of an object to the model of its base image as well, whose image they concern.

    Of a base image that several objects use there is one model, which gets what any of them states. One that stands in
    the input stays as it is, and a note says what it lacks.

    Args:
        draft: the conversion that needs the base image.
        base: the model of the base image.
        names: the fields of ``spec``.
    """
    for name in names:
        path: Path = ("spec", name)
        stated, found = draft.given(*path), get(base.value, *path)
        if base.beside is not None and draft.has(*path):
            draft.give(path, base.beside, path, keep=True)
        elif is_empty(stated) or base.beside is not None:
            continue
        elif base.is_written and (is_empty(found) or isinstance(found, list)):
            Beside(base.value).put(path, _united(found, stated))
        elif _united(found, stated) != found:
            draft.note(
                path,
                f"it concerns the base image as well, whose model {id_of(base.value)} states otherwise; look whether "
                f"its spec.{name} is enough",
            )


def _united(found: Json, stated: Json) -> Json:
    """Return a list with what another states besides; of single values the second."""
    if isinstance(found, list) and isinstance(stated, list):
        return [*found, *(copied(item) for item in stated if item not in found)]
    return copied(stated)


def _new_base_model(draft: Draft, kind: Kind, name: str, namespace: str, image: str) -> Beside:
    beside = Beside(new_object(kind, name, namespace, {"image": image} if image else {}))
    draft.beside.append(beside)
    if not image:
        draft.need(
            ("spec", "image"),
            "the base image is not known; state it by --values as baseImage",
            near=("spec",),
            object_=beside.id,
        )
    return beside


def _account_image(draft: Draft, place: Path, image: str, wanted: str, object_: str) -> None:
    if not image:
        return
    draft.drop(place)
    if wanted == image:
        draft.account(place, object_, ("spec", "image"))
    else:
        reason = "the given values name the base image"
        draft.account(place, object_, ("spec", "image"), fate=Fate.TYPED, reason=reason)
