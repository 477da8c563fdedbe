"""The words between the pilot's core and the rest of it: events in, instructions out."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sluice.contracts.loaded import LoadedTool
from sluice.contracts.pilots import (
    AttemptReport,
    Heartbeat,
    HeartbeatAnswer,
    Lease,
    LeasedJob,
    PilotTask,
)
from sluice.contracts.states import AttemptPhase

#: (job id, attempt number): the fencing token.
Token = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Now:
    """``tick``: seconds of a clock that only runs forward (leases, durations); ``wall``: UTC
    (reports)."""

    tick: float
    wall: datetime


@dataclass(frozen=True, slots=True)
class Progress:
    """What is done with a job now; ``bytes`` of its outputs, once they are stored."""

    phase: AttemptPhase
    bytes: int | None = None


class StopReason(StrEnum):
    """Why an attempt is stopped before its own end."""

    CANCEL = "cancel"  #: the WMS wants it stopped: reported as canceled
    ABANDON = "abandon"  #: the job is no longer this pilot's: not reported
    LEASE = "lease"  #: its lease could not be renewed: reported, so that the WMS learns why
    SHUTDOWN = "shutdown"  #: the pilot must end now: the job is given back


# --- events ---


@dataclass(frozen=True, slots=True)
class LeaseGranted:
    """``sent``: tick at which the request left."""

    sent: float
    lease: Lease


@dataclass(frozen=True, slots=True)
class HeartbeatAnswered:
    """``heartbeat``: the one that was sent at tick ``sent``."""

    sent: float
    heartbeat: Heartbeat
    answer: HeartbeatAnswer


@dataclass(frozen=True, slots=True)
class PilotStarted:
    """Slots can be started from now on."""


@dataclass(frozen=True, slots=True)
class SlotReady:
    slot: int


@dataclass(frozen=True, slots=True)
class SlotLeft:
    """The process of a slot that was to leave has ended."""

    slot: int


@dataclass(frozen=True, slots=True)
class SlotLost:
    """The slot's process has ended; ``reason`` completes a sentence, "the process …"."""

    slot: int
    reason: str


@dataclass(frozen=True, slots=True)
class AttemptEnded:
    """``seconds``: how long it occupied the slot. ``loaded``: the tool that stays loaded there."""

    slot: int
    report: AttemptReport
    seconds: float
    loaded: LoadedTool | None = None


@dataclass(frozen=True, slots=True)
class ToolUnloaded:
    """The slot has no tool loaded any more."""

    slot: int


@dataclass(frozen=True, slots=True)
class TimePassed:
    """It is time to look at leases and stops again (``PilotCore.next_check``)."""


@dataclass(frozen=True, slots=True)
class DrainAsked:
    """Take nothing more, finish what runs, give back what waits."""


@dataclass(frozen=True, slots=True)
class ShutdownAsked:
    """Stop what runs and give everything back."""


Event = (
    LeaseGranted
    | HeartbeatAnswered
    | PilotStarted
    | SlotReady
    | SlotLeft
    | SlotLost
    | AttemptEnded
    | ToolUnloaded
    | TimePassed
    | DrainAsked
    | ShutdownAsked
)


# --- instructions ---


@dataclass(frozen=True, slots=True)
class GiveTask:
    """The slot learns the task before its first job of it."""

    slot: int
    task: PilotTask


@dataclass(frozen=True, slots=True)
class ForgetTask:
    slot: int
    uid: UUID


@dataclass(frozen=True, slots=True)
class RunJob:
    """``deadline``: tick of its stop. ``secrets``: it is not to run without those of its task.
    ``gpus``: by uuid, that it may use."""

    slot: int
    job: LeasedJob
    deadline: float
    secrets: bool = False
    gpus: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Renew:
    """The tick at which the slot stops the job by itself, should this pilot stand still."""

    slot: int
    token: Token
    deadline: float


@dataclass(frozen=True, slots=True)
class StopJob:
    slot: int
    token: Token
    reason: StopReason


@dataclass(frozen=True, slots=True)
class Unload:
    """The tool that stays loaded in the slot, which has no job, is to end."""

    slot: int


@dataclass(frozen=True, slots=True)
class EndSlot:
    """Its process does not obey: it is killed, and ``SlotLost`` follows."""

    slot: int


@dataclass(frozen=True, slots=True)
class SendReport:
    report: AttemptReport


@dataclass(frozen=True, slots=True)
class Salvage:
    """The attempt's slot died: its own report where it was left behind, else its files removed and
    ``report`` sent."""

    report: AttemptReport


@dataclass(frozen=True, slots=True)
class StartSlot:
    """For the first time, or again: ``SlotReady`` follows."""

    slot: int


@dataclass(frozen=True, slots=True)
class LetSlotGo:
    """It has no job, and there is no use for it: ``SlotLeft`` follows."""

    slot: int


Instruction = (
    GiveTask
    | ForgetTask
    | RunJob
    | Renew
    | StopJob
    | Unload
    | EndSlot
    | SendReport
    | Salvage
    | StartSlot
    | LetSlotGo
)
