"""Events for the pilot's core and instructions from it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sluice.contracts.common.states import AttemptPhase
from sluice.contracts.jobs.warm_workers import WarmWorkerState
from sluice.contracts.pilots.heartbeats import Heartbeat, HeartbeatAnswer
from sluice.contracts.pilots.leases import Lease, LeasedJob, PilotTask
from sluice.contracts.pilots.reports import AttemptReport

#: (job id, attempt number): the fencing token.
Token = tuple[int, int]


@dataclass(frozen=True, slots=True)
class CurrentTime:
    """The current time.

    Attributes:
        boot_time: Seconds of a monotonic clock, for leases and durations.
        wall: The time in UTC, for reports.
    """

    boot_time: float
    wall: datetime


@dataclass(frozen=True, slots=True)
class Progress:
    """The phase of a job.

    Attributes:
        bytes: The size of its outputs once they are stored.
    """

    phase: AttemptPhase
    bytes: int | None = None


class StopReason(StrEnum):
    """The reason why an attempt is stopped before its own end."""

    CANCEL = "cancel"  # The WMS cancels the job: the attempt is reported as canceled.
    ABANDON = "abandon"  # The job is no longer this pilot's: the attempt is not reported.
    LEASE = "lease"  # The lease was not renewed: the attempt is reported with this reason.
    SHUTDOWN = "shutdown"  # The pilot must end now: the job is given back.


# --- events ---


@dataclass(frozen=True, slots=True)
class LeaseGranted:
    """The WMS has leased jobs.

    Attributes:
        sent_at: The boot time at which the request was sent.
    """

    sent_at: float
    lease: Lease


@dataclass(frozen=True, slots=True)
class HeartbeatAnswered:
    """The WMS has answered a heartbeat.

    Attributes:
        sent_at: The boot time at which the heartbeat was sent.
    """

    sent_at: float
    heartbeat: Heartbeat
    answer: HeartbeatAnswer


@dataclass(frozen=True, slots=True)
class PilotStarted:
    """The pilot can start slots from now on."""


@dataclass(frozen=True, slots=True)
class SlotReady:
    """A slot takes jobs from now on."""

    slot: int


@dataclass(frozen=True, slots=True)
class SlotReleased:
    """The process of a slot that had to leave has ended."""

    slot: int


@dataclass(frozen=True, slots=True)
class SlotLost:
    """The process of a slot has ended unexpectedly.

    Attributes:
        reason: The end of the sentence "the process …".
    """

    slot: int
    reason: str


@dataclass(frozen=True, slots=True)
class AttemptEnded:
    """An attempt has ended.

    Attributes:
        seconds: The time that it used the slot.
        loaded: The warm worker that stays in the slot.
    """

    slot: int
    report: AttemptReport
    seconds: float
    loaded: WarmWorkerState | None = None


@dataclass(frozen=True, slots=True)
class ToolUnloaded:
    """The slot no longer has a warm worker."""

    slot: int


@dataclass(frozen=True, slots=True)
class TimePassed:
    """Leases and stops have to be checked again (``PilotCore.next_check``)."""


@dataclass(frozen=True, slots=True)
class DrainRequested:
    """The pilot must take no jobs, finish running jobs and give back waiting jobs."""


@dataclass(frozen=True, slots=True)
class ShutdownRequested:
    """The pilot must stop all jobs and give them back."""


Event = (
    LeaseGranted
    | HeartbeatAnswered
    | PilotStarted
    | SlotReady
    | SlotReleased
    | SlotLost
    | AttemptEnded
    | ToolUnloaded
    | TimePassed
    | DrainRequested
    | ShutdownRequested
)


# --- instructions ---


@dataclass(frozen=True, slots=True)
class DescribeTask:
    """Describe a task to a slot before the slot's first job of the task."""

    slot: int
    task: PilotTask


@dataclass(frozen=True, slots=True)
class ForgetTask:
    """Let a slot forget a task."""

    slot: int
    uid: UUID


@dataclass(frozen=True, slots=True)
class RunJob:
    """Run a job in a slot.

    Attributes:
        deadline: The boot time of its stop.
        secrets: Whether the job must not run without the secrets of its task.
        gpus: The uuids of the GPUs that the job may use.
    """

    slot: int
    job: LeasedJob
    deadline: float
    secrets: bool = False
    gpus: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Renew:
    """Renew the deadline of a job.

    Attributes:
        deadline: The boot time at which the slot itself stops the job, even if the pilot hangs.
    """

    slot: int
    token: Token
    deadline: float


@dataclass(frozen=True, slots=True)
class StopJob:
    """Stop a job."""

    slot: int
    token: Token
    reason: StopReason


@dataclass(frozen=True, slots=True)
class UnloadWarmWorker:
    """End the warm worker of a slot that has no job."""

    slot: int


@dataclass(frozen=True, slots=True)
class KillSlot:
    """Kill the process of a slot that does not obey. ``SlotLost`` follows."""

    slot: int


@dataclass(frozen=True, slots=True)
class SendReport:
    """Send a report to the WMS."""

    report: AttemptReport


@dataclass(frozen=True, slots=True)
class ReportDeadSlot:
    """Report the attempt of a slot that died.

    The attempt's own report is sent if it was written.

    Attributes:
        report: The report that is sent otherwise. The files of the attempt are then removed.
    """

    report: AttemptReport


@dataclass(frozen=True, slots=True)
class StartSlot:
    """Start a slot for the first time or again. ``SlotReady`` follows."""

    slot: int


@dataclass(frozen=True, slots=True)
class ReleaseSlot:
    """End a slot that has no job and is not needed. ``SlotReleased`` follows."""

    slot: int


Instruction = (
    DescribeTask
    | ForgetTask
    | RunJob
    | Renew
    | StopJob
    | UnloadWarmWorker
    | KillSlot
    | SendReport
    | ReportDeadSlot
    | StartSlot
    | ReleaseSlot
)
