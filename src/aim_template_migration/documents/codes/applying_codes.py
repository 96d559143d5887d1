"""Codes that applying gives: step failures, failures of the run, and unit results."""

from aim_template_migration.documents.codes.model import Code, CodeKind

_INSPECT = "Run inspect on the plan, compare live state with plan.json and backup.yaml, and decide with the resource owners; plan again before another apply."
_PLAN_AGAIN = "Find out who changed it and why, then make a new plan and review it."


def _codes(kind: CodeKind, *rows: tuple[str, str, str]) -> tuple[Code, ...]:
    return tuple(Code(code, kind, summary, advice) for code, summary, advice in rows)


APPLYING_CODES: tuple[Code, ...] = (
    *_codes(
        "stepFailure",
        ("NoLongerAutomatic", "Classified afresh, the unit would no longer be automatic.", _PLAN_AGAIN),
        ("PinReplaced", "A pinned object now has another UID.", _PLAN_AGAIN),
        (
            "PinEdited",
            "A pinned object's generation, content, owners, pause state or exact version differs from the plan.",
            _PLAN_AGAIN,
        ),
        ("PinAppeared", "An object that the plan was made without has appeared in the closure.", _PLAN_AGAIN),
        ("PinGone", "A pinned object no longer exists or no longer belongs to the closure.", _PLAN_AGAIN),
        (
            "PinTerminating",
            "A pinned object is being deleted.",
            "Find out who deletes it. The service was not cut over; what completed steps wrote before stays as it is. Plan again once that is settled.",
        ),
        (
            "TargetDiffers",
            "An object with a target's name exists with other content, an owner, or is terminating.",
            _INSPECT,
        ),
        (
            "ProfileNotReady",
            "The target profile did not become Ready with its own projected runtime in time.",
            "Read the profile's conditions and the operator's log. The service still runs on its template; a later apply starts from live state.",
        ),
        (
            "ProfileCacheNotReady",
            "The target cache did not report exactly the predecessor's artifacts and PVCs in time.",
            "Read the cache's conditions and status.artifacts. Do not delete anything: the predecessor cache still serves the service.",
        ),
        ("ArtifactChanged", "A predecessor artifact is gone, replaced, owned, terminating or not Ready.", _INSPECT),
        ("PvcChanged", "A predecessor's PersistentVolumeClaim is gone, replaced, terminating or not Bound.", _INSPECT),
        (
            "DownloadStarted",
            "Another artifact or a download Job has appeared for the same weights.",
            "Stop further changes to the unit and find out which controller started it. Before its cutover the service still runs on its template; after it, on the profile pipeline, with the weights that it has loaded (inspect says which).",
        ),
        (
            "CutoverDiffers",
            "The cutover patch would leave, or left, the service otherwise than the plan says.",
            "A mutating webhook or a defaulting rule interferes; name its owner and review what it changes before any further cutover.",
        ),
        (
            "CutoverNotObserved",
            "The operator did not observe the cutover, or did not resolve the target profile, within the deadline; or that could not be read.",
            "Treat it as an infrastructure failure (R): no further cutover leaves in this run. Check the operator's log and whether it must be restarted; never weaken the check.",
        ),
        (
            "PinExpired",
            "The service was edited after its cutover, so its generation no longer matches the pin.",
            "Normal profile rendering resumes and may roll the workload. Find out who edits the service, and watch its pods.",
        ),
        (
            "RolloutDetected",
            "The InferenceService, its Deployment's pod template or its pods changed with the cutover.",
            "The cutovers of this run are halted. Keep everything as it is, capture status, events and logs, and involve the service's owners.",
        ),
        (
            "PodsChanged",
            "A pod restarted or vanished with an unchanged pod template.",
            "The cutovers of this run are halted. Look at the pod's events and its node before going on. The service is on the profile pipeline: verify compares its pods again, and so does a rerun with --baseline and the archived result of this run.",
        ),
        (
            "InferenceServiceNotReady",
            "The InferenceService is not Ready.",
            "Stop and restore serving health with the service's owners first. Where CutOver is among the completed steps, the service is on the profile pipeline, and a rerun proves it again and answers AlreadyCutOver; else it still runs on its template.",
        ),
        (
            "WriteConflict",
            "Another writer changed the object between reading and writing, or stored something else there.",
            _INSPECT,
        ),
        (
            "RefusedByServer",
            "The API server or an admission webhook refused the request.",
            "Read the server's message; mend the cause and plan again.",
        ),
        (
            "WebhookCannotDryRun",
            "An admission webhook with side effects does not support dry run.",
            "Ask the webhook's owner to declare its side effects (sideEffects: None or NoneOnDryRun); a dry run can't validate this unit.",
        ),
        (
            "Forbidden",
            "The identity lacks a permission, or admission forbade the request.",
            "Grant exactly the permission that the message names, then apply again; a dry run needs the same permissions as a commit.",
        ),
        ("ObjectGone", "The object or its namespace no longer exists.", _PLAN_AGAIN),
        (
            "ServerBusy",
            "The API server asked to be left alone (429 or 503); writes are never repeated.",
            "Wait until the API server is healthy, then apply again with the same plan.",
        ),
        (
            "Unreachable",
            "The request was not sent, since no connection could be made.",
            "Check the network and the API server, then apply again with the same plan.",
        ),
        (
            "UnreadableAnswer",
            "A read got no usable answer, even when repeated.",
            "Check proxies between here and the API server, then apply again with the same plan.",
        ),
        (
            "IncompleteList",
            "A list ended early or was no consistent snapshot.",
            "Try again; a partial list is never taken for a whole one.",
        ),
        (
            "AnswerDiffers",
            "The server's answer to a write lacks or changed a field that was sent.",
            "A webhook or an older CRD prunes or mutates it. Check the CRDs' versions and the mutating webhooks.",
        ),
        (
            "ReadBackDiffers",
            "The server accepted a write, but reading the object back shows something else, or nothing.",
            "Another controller or a webhook undoes it, or the server lies. Find out which before applying again.",
        ),
        (
            "ServerError",
            "The API server answered a read with an internal error (5xx), even when it was repeated.",
            "Check the health of the API server, then apply again with the same plan.",
        ),
        (
            "UnexpectedError",
            "A fault of this tool ended the unit.",
            "Run inspect on the plan to see how far the unit came, and report the fault with the message; the exit code is 1.",
        ),
        ("AnswerLost", "The answer to a dry run was lost; a dry run stores nothing.", "Run the dry run again."),
        (
            "NotStored",
            "The answer to a write was lost, and reading showed that nothing was stored.",
            "Apply again: a rerun starts from live state.",
        ),
        (
            "OutcomeUnknown",
            "The answer to a write was lost, and it can't be read whether it was stored.",
            "Run inspect once the API server answers again, before anything else is changed.",
        ),
    ),
    *_codes(
        "unitResult",
        (
            "AlreadyCutOver",
            "The service carries this plan's cutover already; nothing was written.",
            "Nothing to do; verify says what remains.",
        ),
        (
            "HaltedAfterRollout",
            "Not cut over, or not begun, because another unit showed a rollout, or failed when its cutover was or may be stored.",
            "Settle that unit first; then apply again from live state.",
        ),
        (
            "StoppedBefore",
            "Stopped before the step that --stop-before names.",
            "Apply again without --stop-before to go on from live state.",
        ),
        (
            "MadeManual",
            "The unit was automatic in the plan as generated and was made manual by hand.",
            "Nothing was written for it. Plan again if it is to be migrated after all.",
        ),
        ("NotSelected", "Left out by --only or --limit.", "Apply again with another selection."),
        (
            "FailFast",
            "Not begun, or not cut over, because another unit failed and --fail-fast was given.",
            "Settle that unit first; then apply again.",
        ),
        (
            "Interrupted",
            "The run was asked to stop before the unit was done.",
            "Apply again: a rerun starts from live state, and inspect shows how far the unit came.",
        ),
        (
            "PodsNotCompared",
            "Pods were not compared with those before the cutover.",
            "Give the archived result of the run that cut over with --baseline.",
        ),
        (
            "ServerWarning",
            "The API server sent a Warning header with its answer.",
            "Read it; it is shown as it came and never taken for a bridge warning.",
        ),
    ),
    *_codes(
        "runFailure",
        (
            "CredentialsRejected",
            "The API server no longer accepts the credentials.",
            "Log in again and apply again: a rerun starts from live state.",
        ),
        (
            "JournalNotWritable",
            "The journal can't be written or synced, so no further request may leave.",
            "Free or mend the disk, archive result and journal, and apply again.",
        ),
        (
            "ResultNotWritable",
            "The result file can't be written.",
            "Free or mend the disk, archive result and journal, and apply again; the journal holds what was done.",
        ),
        (
            "LockLost",
            "The lock file was removed or replaced while the run lasted.",
            "Find out who removed it; another apply may be running. Prove that none is before applying again.",
        ),
    ),
)
