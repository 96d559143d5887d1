"""Which page of the docs goes with a code, and after which codes ``convert`` comes next (pure).

A page tells of one situation that a run can leave: how it is recognised, what is safe, what to do (R, "Partial
recovery"). Every code with which a unit or a run can fail has one, and so has every finding of ``inspect``.
"""

from aim_template_migration.documents.codes.model import Code, CodeKind

_FOLDER = "docs/how-to/failures"

SITUATIONS: dict[str, tuple[str, ...]] = {
    "changed-since-the-plan": (
        "NoLongerAutomatic",
        "PinReplaced",
        "PinEdited",
        "PinAppeared",
        "PinGone",
        "PinTerminating",
        "ObjectGone",
        "UnitDiffers",
    ),
    "target-in-the-way": ("TargetDiffers",),
    "profile-not-ready": ("ProfileNotReady",),
    "cache-not-ready": ("ProfileCacheNotReady",),
    "download-started": ("DownloadStarted",),
    "weights-changed": ("ArtifactChanged", "PvcChanged"),
    "write-refused": (
        "WriteConflict",
        "RefusedByServer",
        "WebhookCannotDryRun",
        "Forbidden",
        "ServerBusy",
    ),
    "write-changed": ("CutoverDiffers", "AnswerDiffers", "ReadBackDiffers"),
    "lost-answer": (
        "NotStored",
        "OutcomeUnknown",
        "AnswerLost",
        "AttemptStored",
        "AttemptNotStored",
        "AttemptDiffers",
        "AttemptOpen",
    ),
    "killed-before-the-cutover": ("PartlyApplied",),
    "killed-at-the-cutover": ("CutOverUnconfirmed",),
    "run-ended-early": (
        "Interrupted",
        "FailFast",
        "StoppedBefore",
        "HaltedAfterRollout",
        "UnexpectedError",
    ),
    "cutover-not-observed": ("CutoverNotObserved",),
    "rollout-detected": ("RolloutDetected", "PodsChanged", "InferenceServiceNotReady", "CutOverChanged"),
    "pin-expired": ("PinExpired",),
    "two-inference-services": ("AmbiguousInferenceService",),
    "server-unreachable": (
        "Unreachable",
        "UnreadableAnswer",
        "IncompleteList",
        "ServerError",
        "CredentialsRejected",
        "UnitUnreadable",
    ),
    "lock-left": ("LockLost",),
    "disk-full": ("JournalNotWritable", "ResultNotWritable"),
    "result-in-the-way": (),
}
"""Codes by the page that tells what to do; a page without codes is of an end before anything was started."""

CONVERTED: frozenset[str] = frozenset(
    {
        "Unreferenced",
        "OverridesPresent",
        "ServiceSettingNotCarried",
        "CustomModel",
        "TargetNotDiscovered",
        "ClusterTargetMissing",
        "UnmappedField",
        "ImputationNotSafe",
    }
)
"""Codes after which ``convert`` shows what the object's v1alpha2 equivalent would be."""

_CONVERT = "docs/how-to/convert-manifests.md"
_RUNBOOK = "docs/how-to/runbook.md"
_FIELDS = "docs/reference/fields-aimservicetemplate.md"
_FURTHER: dict[str, str] = {
    "Unreferenced": _CONVERT,
    "OverridesPresent": _CONVERT,
    "ServiceSettingNotCarried": "docs/reference/fields-aimservice.md",
    "CustomModel": _CONVERT,
    "UnmappedField": _FIELDS,
    "ImputationNotSafe": _FIELDS,
    "TargetNotDiscovered": _CONVERT,
    "ClusterTargetMissing": _CONVERT,
    "DedicatedHandoffRequiresQuiescence": f"{_RUNBOOK}#manual-dedicated-handoff",
    "LastAppliedPresent": f"{_CONVERT}#after-a-migration-in-place",
    "SecretLiteral": "docs/explanation/privacy.md",
    "SecretsReferenced": "docs/explanation/privacy.md",
    "PinExpires": f"{_FOLDER}/pin-expired.md",
    "PinActive": f"{_FOLDER}/pin-expired.md",
    "TargetProfileOwnsCache": f"{_RUNBOOK}#caches",
    "AnotherMatchingCache": f"{_RUNBOOK}#caches",
    "TargetCacheOwned": f"{_RUNBOOK}#caches",
    "TargetCacheConflict": f"{_RUNBOOK}#caches",
}
_BY_KIND: dict[CodeKind, str] = {
    "outcome": f"{_RUNBOOK}#plan-and-review",
    "reason": f"{_RUNBOOK}#plan-and-review",
    "warning": f"{_RUNBOOK}#plan-and-review",
    "imputation": _FIELDS,
    "unitResult": f"{_RUNBOOK}#dry-run-and-commit",
    "inspection": "docs/how-to/after-a-failure.md",
    "verification": "docs/how-to/verify.md",
    "prerequisite": f"{_RUNBOOK}#before-the-window",
}
_PAGES = {code: name for name, codes in SITUATIONS.items() for code in codes}


def page_of(code: str) -> str:
    """Return the page that goes with a code, as a path from the repository's root, or an empty string."""
    name = _PAGES.get(code)
    return f"{_FOLDER}/{name}.md" if name else ""


def reading_of(code: Code) -> str:
    """Return what to read about a code, as a path with an anchor where one helps."""
    return page_of(code.code) or _FURTHER.get(code.code) or _BY_KIND.get(code.kind, "")
