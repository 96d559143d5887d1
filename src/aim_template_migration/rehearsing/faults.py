"""The faults that a rehearsal can show, as data: what happens, at which step, what the tool answers, what comes next.

HTTP faults befall one request of the tool; the others are ways in which the simulated operator fails the migration.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from aim_rehearsal.faults import SLOW_SECONDS, Moment, Trouble
from aim_rehearsal.operator import Misbehaviour
from aim_template_migration.documents.codes import CODES

_WRITES: dict[str, Moment] = {
    "CreateProfile": Moment(frozenset({"create"}), frozenset({"aimprofiles"})),
    "CreateProfileCache": Moment(frozenset({"create"}), frozenset({"aimprofilecaches"})),
    "ProtectArtifact": Moment(frozenset({"patch"}), frozenset({"aimartifacts"})),
    "CutOver": Moment(frozenset({"patch"}), frozenset({"aimservices"})),
}
# The first read after a write is its own read-back, which is part of the write's step.
_READS: dict[str, Moment] = {
    "AwaitProfile": Moment(frozenset({"get"}), frozenset({"aimprofiles"}), after="aimprofiles", skip=1),
    "AwaitProfileCache": Moment(frozenset({"get"}), frozenset({"aimprofilecaches"}), after="aimprofilecaches", skip=1),
    "ReverifyProfileCache": Moment(frozenset({"get"}), frozenset({"aimprofilecaches"}), after="aimartifacts"),
    "ConfirmNoRollout": Moment(frozenset({"get"}), frozenset({"aimservices"}), after="aimservices", skip=1),
}
_LISTS: dict[str, Moment] = {
    "CreateProfileCache": Moment(frozenset({"list"}), frozenset({"aimartifacts", "jobs"}), after="aimprofiles"),
    "ConfirmNoRollout": Moment(frozenset({"list"}), frozenset({"pods"}), after="aimservices"),
}
_REPEATED = dict.fromkeys(_READS, "")
_SETTLED = (
    "A write counts as unknown: the tool reads until the server's own time limit and a margin have passed, then says "
    "that nothing was stored. A read is repeated."
)
_GOES_ON = "Nothing to do: the run went on by itself."
_FROM_LIVE_STATE = "starts from live state, finds what is there already, and migrates the rest"
_MENDED = "with an operator that behaves again, starts from live state and migrates the unit"
DEADLINE_SECONDS = 10
"""Of every wait in a rehearsal with a fault, so that an operator that never answers is no long story."""


class FaultError(ValueError):
    """There is no such fault, or it can't come up there; the message is one sentence that names what there is."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of the catalogue.

    Attributes:
        name: how ``--fault`` names it.
        happens: what happens, in one sentence.
        answers: by step at which it can come up, the default first: the code with which the unit ends that it befalls,
            empty where it succeeds all the same.
        answer: what the tool does about it.
        rerun: what a rerun does, as the rest of a sentence that begins with "A rerun".
        trouble: what befalls a request, None for a fault of the operator.
        misbehaviour: what the operator does wrong, None for a fault of a request.
        mending: what an administrator does before the rerun, beyond archiving the result; empty for nothing.
        deadline_seconds: how long each wait of the run lasts at most.
        plans_again: whether the rerun takes a new plan.
        rerun_code: the code with which the unit fails again in the rerun, empty where it succeeds.
    """

    name: str
    happens: str
    answers: Mapping[str, str]
    answer: str
    rerun: str
    trouble: Trouble | None = None
    misbehaviour: Misbehaviour | None = None
    mending: str = ""
    deadline_seconds: int = DEADLINE_SECONDS
    plans_again: bool = False
    rerun_code: str = ""

    @property
    def default_step(self) -> str:
        """The step where it comes up unless another is named."""
        return next(iter(self.answers))

    @property
    def takes_step(self) -> bool:
        """Whether the step can be chosen: an operator errs where it errs."""
        return self.trouble is not None

    def next_step(self, step: str) -> str:
        """Return what an administrator does next after it came up at ``step``."""
        if self.trouble is Trouble.KILL:
            return self.mending
        code = self.answers[step]
        return CODES[code].advice if code else _GOES_ON


@dataclass(frozen=True, slots=True)
class ChosenFault:
    """A fault at a step."""

    fault: Fault
    step: str

    @property
    def text(self) -> str:
        """``name@step``, or the name alone for a fault of the operator."""
        return f"{self.fault.name}@{self.step}" if self.fault.takes_step else self.fault.name

    @property
    def moment(self) -> Moment | None:
        """Which request it befalls, None for a fault of the operator."""
        trouble = self.fault.trouble
        if trouble is None:
            return None
        return _LISTS[self.step] if trouble is Trouble.GONE else (_WRITES | _READS)[self.step]


def choose_fault(text: str) -> ChosenFault:
    """Return the fault that ``NAME`` or ``NAME@STEP`` names.

    Raises:
        FaultError: there is none, or it can't come up at that step.
    """
    name, at, step = text.partition("@")
    fault = FAULTS.get(name)
    if fault is None:
        raise FaultError(f"there is no fault {name!r}; there are: {', '.join(FAULTS)}")
    if not at:
        return ChosenFault(fault, fault.default_step)
    if not fault.takes_step:
        raise FaultError(f"{name} takes no step: it comes up at {fault.default_step}")
    if step not in fault.answers:
        raise FaultError(f"{name} can't come up at {step!r}; it can at: {', '.join(fault.answers)}")
    return ChosenFault(fault, step)


def _at_writes(code: str) -> dict[str, str]:
    """Return the same code for every write, the cutover first."""
    return dict.fromkeys(("CutOver", *_WRITES), code)


_REQUEST_FAULTS = (
    Fault(
        "conflict",
        "The API server answers a write with 409 Conflict, as when another writer was faster; nothing is stored.",
        _at_writes("WriteConflict"),
        "The unit stops: the tool reads again to name the cause, and never sends the write a second time. Other units "
        "go on.",
        f"{_FROM_LIVE_STATE}, if nobody has really changed anything",
        trouble=Trouble.CONFLICT,
    ),
    Fault(
        "gone",
        "A list comes in two pages, and the token for the second has expired: 410 Gone.",
        {"ConfirmNoRollout": "", "CreateProfileCache": ""},
        "The tool throws the first page away and starts the list again; a partial list is never taken for a whole one.",
        "finds everything done",
        trouble=Trouble.GONE,
    ),
    Fault(
        "too-many-requests",
        "The API server answers one request with 429 and Retry-After; nothing is stored.",
        _at_writes("ServerBusy") | _REPEATED,
        "A write is not repeated: its unit stops. A read is repeated after the time that the server asks for.",
        _FROM_LIVE_STATE,
        trouble=Trouble.TOO_MANY_REQUESTS,
    ),
    Fault(
        "server-error",
        "The API server answers one request with 500; nothing is stored, but the tool cannot know that.",
        _at_writes("NotStored") | _REPEATED,
        _SETTLED,
        _FROM_LIVE_STATE,
        trouble=Trouble.SERVER_ERROR,
    ),
    Fault(
        "lost-answer-before",
        "The connection breaks before the API server has carried out a request.",
        _at_writes("NotStored") | _REPEATED,
        _SETTLED,
        _FROM_LIVE_STATE,
        trouble=Trouble.LOST_ANSWER_BEFORE,
    ),
    Fault(
        "lost-answer-after",
        "The API server carries out a request, and the connection breaks before its answer arrives.",
        _at_writes("") | _REPEATED,
        "A write counts as unknown until the tool has read, by UID and content, that it is stored; then the unit goes "
        "on. It is never sent twice. A read is repeated.",
        "finds everything done",
        trouble=Trouble.LOST_ANSWER_AFTER,
    ),
    Fault(
        "truncated",
        "The API server carries out a request, and the connection breaks in the middle of its answer.",
        _at_writes("") | _REPEATED,
        "Half an answer proves nothing: as after a lost one, a write is settled by reading, and a read is repeated.",
        "finds everything done",
        trouble=Trouble.TRUNCATED,
    ),
    Fault(
        "slow",
        f"The API server takes {SLOW_SECONDS:g} s over one request.",
        _at_writes("") | _REPEATED,
        "The tool waits.",
        "finds everything done",
        trouble=Trouble.SLOW,
    ),
    Fault(
        "kill",
        "The process of apply is killed (SIGKILL) when the API server has carried out a request and not yet answered.",
        _at_writes("") | _REPEATED,
        "It can answer nothing. What it was doing stands in the result and in the journal, written before the request "
        "left; the lock file stays, and the next apply refuses to start while it is there.",
        f"{_FROM_LIVE_STATE}; a unit that was cut over already is confirmed, and nothing is written to it",
        trouble=Trouble.KILL,
        mending="Prove that no apply is running (the lock file names host and process), look with inspect at what was "
        "under way, archive result and journal, and only then move the lock file away.",
    ),
)
_OPERATOR_FAULTS = (
    Fault(
        "operator-slow",
        "The operator waits a second before each of its writes.",
        {"AwaitProfile": ""},
        "The tool waits for each state that it needs, up to the deadlines in the plan.",
        "finds everything done",
        misbehaviour=Misbehaviour.SLOW,
        deadline_seconds=60,
    ),
    Fault(
        "operator-profile-stuck",
        "The operator looks at the new profile and never makes it Ready.",
        {"AwaitProfile": "ProfileNotReady"},
        "The unit stops at the deadline, long before its service would be touched.",
        _MENDED,
        misbehaviour=Misbehaviour.PROFILE_STUCK,
        mending="The operator is repaired and started again.",
    ),
    Fault(
        "operator-cache-stuck",
        "The operator looks at the new profile cache and never makes it Ready.",
        {"AwaitProfileCache": "ProfileCacheNotReady"},
        "The unit stops at the deadline; the predecessor's cache still serves its service.",
        _MENDED,
        misbehaviour=Misbehaviour.CACHE_STUCK,
        mending="The operator is repaired and started again.",
    ),
    Fault(
        "operator-adopts-wrong-artifact",
        "The new profile cache reports another artifact than the predecessor's.",
        {"AwaitProfileCache": "ProfileCacheNotReady"},
        "The unit stops: only the exact UID of the artifact and the name of its claim count.",
        _MENDED,
        misbehaviour=Misbehaviour.ADOPTS_WRONG_ARTIFACT,
        mending="The operator is repaired and started again.",
    ),
    Fault(
        "operator-downloads-again",
        "For the new profile cache the operator downloads the weights a second time.",
        {"AwaitProfileCache": "DownloadStarted"},
        "The unit stops as soon as a new artifact or download Job for its sources appears.",
        "stops the unit again, since the second artifact is part of its closure now; plan again once its owners have "
        "settled that",
        misbehaviour=Misbehaviour.DOWNLOADS_AGAIN,
        mending="The operator is repaired and started again; the second artifact is left to the owners.",
        rerun_code="PinAppeared",
    ),
    Fault(
        "operator-service-not-observed",
        "The operator does not notice the cutover, as R saw it twice.",
        {"ConfirmNoRollout": "CutoverNotObserved"},
        "A failure of the infrastructure: the unit fails at the deadline, and no further cutover leaves in this run.",
        "finds the first unit's cutover observed and confirms it, and migrates the rest",
        misbehaviour=Misbehaviour.SERVICE_NOT_OBSERVED,
        mending="The operator is started again.",
    ),
    Fault(
        "operator-rolls-despite-pin",
        "The operator renders the InferenceService anew although the pin holds, so that its pods are replaced.",
        {"ConfirmNoRollout": "RolloutDetected"},
        "The unit fails, and no further cutover leaves in this run.",
        "finds the workload rolled and halts as before; leave that unit out with --only, or plan again",
        misbehaviour=Misbehaviour.ROLLS_DESPITE_PIN,
        mending="The operator is replaced by one that honours the pin.",
        rerun_code="RolloutDetected",
    ),
    Fault(
        "operator-foreign-observed-generation",
        "KServe copies the Deployment's counter into the InferenceService's status, so that it is not its generation.",
        {"ConfirmNoRollout": ""},
        "The Deployment proves that the InferenceService is current; the plan says so.",
        "finds everything done",
        misbehaviour=Misbehaviour.FOREIGN_OBSERVED_GENERATION,
    ),
    Fault(
        "operator-no-bridge",
        "The operator is no bridge build: it proves nothing and knows no pin.",
        {"CreateProfile": "BridgeNotProven"},
        "Every unit is manual in the plan, so that apply writes nothing.",
        "with a new plan, made when the bridge has looked at the services, migrates them",
        misbehaviour=Misbehaviour.NO_BRIDGE,
        mending="The CRDs and the operator of one bridge build are installed, and a new plan is made.",
        plans_again=True,
    ),
)
FAULTS: Mapping[str, Fault] = {fault.name: fault for fault in (*_REQUEST_FAULTS, *_OPERATOR_FAULTS)}
