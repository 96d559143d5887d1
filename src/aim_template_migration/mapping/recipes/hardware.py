"""Hardware of v1alpha1 and the accelerator fields of v1alpha2, which are flat and know no video memory (G)."""

import re

from aim_api.tree import get_map
from aim_template_migration.mapping.recipes.draft import Draft
from aim_template_migration.mapping.recipes.ledger import Path

_MODEL_OF_A_PROFILE = re.compile(r"(?=.{1,63}\Z)[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_DEFAULT_DEVICE = "amd.com/gpu"
_UNDECIDED = {
    "minVram": ("no field states a minimum of video memory", "state the accelerator model that has it"),
    "resourceName": (
        "the device that is asked for follows from the accelerator's vendor",
        "remove it, or state acceleratorVendor",
    ),
}


def accelerator_fields(draft: Draft, path: Path) -> dict[str, Path]:
    """Return where the accelerator fields of v1alpha2 stand in hardware of v1alpha1, and leave what none can state.

    Args:
        draft: the conversion.
        path: where the hardware stands in the input.
    """
    gpu = get_map(draft.source, *path, "gpu")
    found: dict[str, Path] = {}
    model = gpu.get("model")
    if isinstance(model, str) and model and not _MODEL_OF_A_PROFILE.fullmatch(model):
        draft.leave(
            (*path, "gpu", "model"),
            "no profile can have an accelerator model of this name",
            "state the model as profiles name it: letters, digits, '.', '_' and '-', at most 63",
        )
    elif model not in (None, ""):
        found["acceleratorModel"] = (*path, "gpu", "model")
    requests = gpu.get("requests")
    if requests == 0 and not isinstance(requests, bool):
        draft.leave(
            (*path, "gpu", "requests"),
            "a pod on a node with accelerators that asks for none can't be stated",
            "remove it, or state how many accelerators it needs",
        )
    elif requests is not None:
        found["acceleratorCount"] = (*path, "gpu", "requests")
    if gpu.get("resourceName") == _DEFAULT_DEVICE:
        draft.drop((*path, "gpu", "resourceName"), "it is the device of AMD accelerators")
    for name, (reason, advice) in _UNDECIDED.items():
        if name in gpu and gpu[name] not in (None, _DEFAULT_DEVICE):
            draft.leave((*path, "gpu", name), reason, advice)
    if draft.has(*path, "cpu"):
        draft.leave((*path, "cpu"), "quantities of CPU are no accelerator", "state them in spec.resources")
    return found
