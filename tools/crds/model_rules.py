"""The object-level rules of AIMModel and AIMClusterModel, which differ between the versions.

Most of them are the validation traps of the migration guide (G), one rule for each field so that the message can name
the field and its v1alpha2 equivalent. What G says wins over the older rules of the v1alpha2 reference: ``spec.image``
with ``spec.profiles`` is valid, as inline derivation from the model's own image.
"""

from tools.crds.schema import FORBIDDEN, REQUIRED, Rule, filled, present, ratcheted

_IMAGE = filled("self.spec.image")
_MODEL_ID = filled("self.spec.modelId")
# A stored flat derivedFrom is a derivation as well.
_DERIVES = "has(self.spec.profiles) || has(self.spec.derivedFrom)"

V1ALPHA1_RULES = tuple(
    Rule(
        f"!has(self.spec.{field})",
        f"spec.{field} is not part of v1alpha1: write the model at aim.eai.amd.com/v1alpha2",
        field=f".spec.{field}",
        reason=FORBIDDEN,
    )
    for field in ("derivedFrom", "profiles", "modelId", "accelerator")
)


def v1alpha2_rules(prefix: str) -> tuple[Rule, ...]:
    """Return the rules of v1alpha2; ``prefix`` is AIM or AIMCluster, as in the kinds of the same scope."""
    return (*_removed_fields(prefix), *_one_flow(), *_derivation(), *_generation())


def _forbidden(cel: str, field: str, message: str) -> Rule:
    return Rule(cel, f"{field} {message}", field=f".{field}", reason=FORBIDDEN)


def _removed_fields(prefix: str) -> list[Rule]:
    advice = {
        "modelSources": f"use spec.modelSources of each {prefix}Profile, or spec.profiles.overrides.modelSources",
        "custom": f"use an {prefix}Model with spec.image for the base, and spec.profiles.derivedFrom to derive from it",
        "customTemplates": f"use an {prefix}ProfileSet, or spec.profiles.derivedFrom",
        "profileCopy": "use spec.profiles, with its selector or sourceRef in spec.profiles.derivedFrom",
        "derivedFrom": "use spec.profiles.derivedFrom, with version, versionPolicy and overrides in spec.profiles",
    }
    # Go clients write empty lists, so only contents count for these two.
    lists = ("modelSources", "customTemplates")
    return [
        _forbidden(
            ratcheted(filled(f"self.spec.{field}") if field in lists else f"has(self.spec.{field})"),
            f"spec.{field}",
            f"is not part of v1alpha2: {instead}",
        )
        for field, instead in advice.items()
    ]


def _one_flow() -> list[Rule]:
    return [
        _forbidden(
            ratcheted(f"{_MODEL_ID} && {_IMAGE}"),
            "spec.modelId",
            "cannot be set with spec.image: generating profiles for a model and discovering those of an image are two "
            "ways to onboard; keep spec.image or spec.modelId",
        ),
        _forbidden(
            ratcheted(f"{_MODEL_ID} && ({_DERIVES})"),
            "spec.modelId",
            "cannot be set with spec.profiles: generating profiles for a model and deriving them are two ways to "
            "onboard; to name the derived profiles use spec.profiles.overrides.modelId",
        ),
        Rule(
            ratcheted(f"!({_IMAGE}) && !({_MODEL_ID}) && !({_DERIVES})"),
            "spec needs one of spec.image, spec.modelId and spec.profiles: an image to discover, a model to generate "
            "profiles for, or profiles to derive",
            field=".spec",
            reason=REQUIRED,
        ),
    ]


def _derivation() -> list[Rule]:
    selector, source_ref = "spec.profiles.derivedFrom.selector", "spec.profiles.derivedFrom.sourceRef"
    return [
        Rule(
            f"!has(self.spec.profiles) || ({_IMAGE}) || ({present(f'self.{selector}')}) || "
            f"({present(f'self.{source_ref}')})",
            f"spec.profiles.derivedFrom is required without spec.image: set {selector} or {source_ref}, or set "
            "spec.image to derive from that image",
            field=".spec.profiles.derivedFrom",
            reason=REQUIRED,
        ),
        *(
            _forbidden(
                f"!({_IMAGE} && {present(f'self.{field}')})",
                field,
                "cannot be set with spec.image: inline profiles select from the model's own image; remove it, or give "
                "spec.profiles a model of their own",
            )
            for field in (source_ref, f"{selector}.modelRef")
        ),
        *_with_profiles(
            f"({_DERIVES})",
            "cannot be set with spec.profiles",
            {
                "aimId": "the model family comes from the source profiles; use spec.profiles.overrides.aimId",
                "source": "weights come from the source profiles; use spec.profiles.overrides.modelSources",
                "runtimeConfigName": "the runtime comes from the source profiles; use spec.profiles.overrides",
            },
        ),
        # With spec.image these are about the discovery of that image.
        *_with_profiles(
            f"({_DERIVES}) && !({_IMAGE})",
            "cannot be set with spec.profiles and without spec.image",
            {
                "discovery": "there is no image to discover",
                "defaultServiceTemplate": "there are no templates; use spec.primary of a profile",
                "env": "there is no image to discover; use spec.profiles.overrides.containerEnv",
                "imageMetadata": "there is no image to discover",
            },
        ),
    ]


def _with_profiles(condition: str, problem: str, advice: dict[str, str]) -> list[Rule]:
    return [
        _forbidden(f"!({condition} && has(self.spec.{field}))", f"spec.{field}", f"{problem}: {instead}")
        for field, instead in advice.items()
    ]


def _generation() -> list[Rule]:
    advice = {
        "source": "use spec.profiles.overrides.modelSources, or spec.modelSources of a profile",
        "accelerator": "use spec.profile.selector of the AIMService to choose profiles by accelerator",
    }
    resources = " || ".join(f"({filled(f'self.spec.resources.{part}')})" for part in ("claims", "limits", "requests"))
    given = {
        "discovery": "has(self.spec.discovery)",
        "env": "has(self.spec.env)",
        # Go clients write empty lists and objects, so only contents count for these two.
        "imagePullSecrets": filled("self.spec.imagePullSecrets"),
        "serviceAccountName": "has(self.spec.serviceAccountName)",
        "resources": f"({resources})",
        "defaultServiceTemplate": "has(self.spec.defaultServiceTemplate)",
        "imageMetadata": "has(self.spec.imageMetadata)",
    }
    return [
        *(
            _forbidden(
                f"!has(self.spec.{field}) || ({_MODEL_ID})",
                f"spec.{field}",
                f"needs spec.modelId, since it configures generated profiles only: {instead}",
            )
            for field, instead in advice.items()
        ),
        *(
            _forbidden(
                f"!(has(self.spec.modelId) && {violation})",
                f"spec.{field}",
                "cannot be set with spec.modelId: configure the runtime of generated profiles in "
                "spec.model.profileGeneration.fallbacks of the AIMRuntimeConfig or AIMClusterRuntimeConfig",
            )
            for field, violation in given.items()
        ),
    ]
