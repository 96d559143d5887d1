"""Derivation of profiles from other profiles: selectors, overrides and the rules about them.

Facts: AIM API v1alpha2 reference (ProfileSelector, overrides, versionPolicy, AIMProfileSet spec CEL).
"""

from tools.crds.core import LOCAL_REFERENCES, env
from tools.crds.schema import (
    FORBIDDEN,
    REQUIRED,
    Rule,
    Schema,
    Shared,
    any_json,
    array,
    described,
    filled,
    integer,
    obj,
    present,
    string,
)
from tools.crds.shared import (
    ACCELERATOR_TYPE,
    ENGINE_ENV,
    METRIC,
    PRECISION,
    PROFILE_TYPE,
    PROFILE_TYPES,
    VENDOR,
    model_sources,
)

SELECTOR_FIELDS: dict[str, Schema] = {
    "aimId": string("Model family, for example qwen/qwen3-32b."),
    "modelId": string("Model variant."),
    "profileId": string("Identifier of the profile in its image."),
    "engine": string("Inference engine, for example vllm."),
    "metric": METRIC,
    "precision": PRECISION,
    "type": PROFILE_TYPE,
    "minimumType": string("Least tuned type to accept.", enum=[*PROFILE_TYPES, "any"]),
    "acceleratorModel": string("Accelerator model, for example MI300X."),
    "acceleratorVendor": VENDOR,
    "acceleratorType": ACCELERATOR_TYPE,
    "acceleratorCount": integer("Number of accelerators; 0 is a filter too."),
    "acceleratorPartitioningMode": string("unpartitioned, partitioned, or a partitioning scheme."),
    "engineArgs": obj({}, "Arguments that the profile must have with these values.", keeps_unknown=True),
    "modelRef": obj(
        {
            "name": string("Name of the AIMModel or AIMClusterModel.", min_length=1),
            "scope": string(enum=["Auto", "Namespace", "Cluster"], default="Auto"),
        },
        "The model that published the profile.",
        required=["name"],
    ),
    "role": string("deployable profiles, or base definitions.", enum=["base", "deployable"], default="deployable"),
    "origin": string("Who made the profile.", enum=["discovered", "derived", "generated", "user-authored"]),
}
PROFILE_SELECTOR = Shared(
    "profileSelector", obj(SELECTOR_FIELDS, "Which profiles to take; every given field must match.")
)

_OVERRIDES: dict[str, Schema] = {
    "modelSources": model_sources("Weights, instead of the profile's own."),
    "features": array(string(), "Features to add.", list_type="set"),
    "acceleratorModel": string("Accelerator model, for example MI300X."),
    "acceleratorVendor": VENDOR,
    "acceleratorCount": integer("Number of accelerators."),
    "acceleratorPartitioningMode": string("Partitioning of the accelerators; needs acceleratorCount."),
    "containerEnv": env("Environment variables of the container, merged by name."),
    "engineEnv": described(ENGINE_ENV, "Environment variables of the engine, merged by name."),
}
SERVICE_OVERRIDES = obj(
    {
        **_OVERRIDES,
        "engineArgs": any_json("Arguments of the engine, merged at the top level; values keep their types."),
    },
    "What this service wants different from its profile; a profile of its own is made for it.",
)
DERIVATION_OVERRIDES = Shared(
    "derivationOverrides",
    obj(
        {
            "aimId": string("Model family of the derived profiles."),
            "modelId": string("Model variant of the derived profiles."),
            "profileId": string("Profile identifier of the derived profiles."),
            "image": string("Container image of the derived profiles."),
            **_OVERRIDES,
            "engineArgs": obj({}, "Arguments of the engine, merged at the top level.", keeps_unknown=True),
        },
        "What the derived profiles have different from their sources.",
    ),
)

SOURCE_REF = obj({"name": string("Name of the ConfigMap.")}, "A discovery catalog to derive from.", required=["name"])

VERSION_POLICY = string(
    "Which versions to take: the one in version, the latest, or all.",
    enum=["pinned", "latest", "all"],
    default="pinned",
)


def partitioning_needs_count(place: str, reported_at: str) -> Rule:
    """Return the rule that new partitioning restates the count, for overrides at ``place``."""
    mode, count = f"{place}.acceleratorPartitioningMode", f"{place}.acceleratorCount"
    return Rule(
        f"!({filled(mode)}) || has({count})",
        f"{reported_at.removeprefix('.')} must be set together with acceleratorPartitioningMode: "
        "partitioning changes what one accelerator is",
        field=reported_at,
        reason="FieldValueRequired",
    )


_COUNTED = (
    "aimId",
    "modelId",
    "profileId",
    "engine",
    "metric",
    "precision",
    "type",
    "acceleratorModel",
    "acceleratorVendor",
    "acceleratorType",
    "acceleratorCount",
    "engineArgs",
    "modelRef",
    "origin",
)
_IDENTITY = ("aimId", "modelId", "profileId")


def version_rules() -> list[Rule]:
    """Return the rules about ``versionPolicy`` and ``version`` of one object."""
    return [
        Rule(
            "has(self.version) || (has(self.versionPolicy) && self.versionPolicy != 'pinned')",
            "version is required while versionPolicy is pinned, which is the default: set version, or set "
            "versionPolicy to latest or all",
            field=".version",
            reason=REQUIRED,
        ),
        Rule(
            "!(has(self.version) && has(self.versionPolicy) && self.versionPolicy in ['latest', 'all'])",
            "version cannot be set while versionPolicy is latest or all: remove it, or set versionPolicy to pinned",
            field=".version",
            reason=FORBIDDEN,
        ),
    ]


def base_role_rules(selector: str) -> list[Rule]:
    """Return the rules about the identity of profiles that derive from base definitions.

    ``selector`` is the CEL path of the selector; the overrides are in ``self.overrides``.
    """
    base = f"{present(f'{selector}.role')} && {selector}.role == 'base'"
    named = " || ".join(f"has({selector}.{field})" for field in _IDENTITY)
    given = " && ".join(present(f"self.overrides.{field}") for field in ("aimId", "modelId"))
    place = selector.removeprefix("self.")
    return [
        Rule(
            f"!({base} && ({named}))",
            f"{place}.aimId, modelId and profileId cannot be set with {place}.role base, since base definitions have "
            "no identity: set overrides.aimId and overrides.modelId instead",
            field=f".{place}",
        ),
        Rule(
            f"!({base}) || ({given})",
            f"overrides.aimId and overrides.modelId are required with {place}.role base, to name the derived profiles",
            field=".overrides",
            reason=REQUIRED,
        ),
    ]


DERIVATION_SET = Shared(
    "derivationSet",
    obj(
        {
            "sourceRef": SOURCE_REF,
            "selector": PROFILE_SELECTOR,
            "versionPolicy": VERSION_POLICY,
            "version": string("Version to take while versionPolicy is pinned."),
            "image": string("Container image of the derived profiles."),
            "overrides": DERIVATION_OVERRIDES,
            "imagePullSecrets": LOCAL_REFERENCES,
            "serviceAccountName": string("Service account of the derived profiles."),
        },
        "Profiles to derive from other profiles.",
        rules=[
            Rule(
                "has(self.sourceRef) || (has(self.selector) && ("
                + " || ".join(f"has(self.selector.{field})" for field in _COUNTED)
                + "))",
                "selector must name something to derive from: set sourceRef, or one of selector."
                + ", ".join(_COUNTED)
                + " (role, minimumType and acceleratorPartitioningMode alone do not select)",
                field=".selector",
            ),
            *version_rules(),
            *base_role_rules("self.selector"),
            partitioning_needs_count("self.overrides", ".overrides.acceleratorCount"),
        ],
    ),
)
