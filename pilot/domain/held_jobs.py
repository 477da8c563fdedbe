"""What a pilot has at hand: jobs with their leases, and slots with the jobs handed to them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce
from uuid import UUID

from pilot.domain.model import Progress, StopReason, Token
from sluice.contracts.gpus import Gpu
from sluice.contracts.pilots import JobToken, LeasedJob, StartedJob
from sluice.fit import Booked, Wanted, fit


@dataclass(slots=True)
class HeldJob:
    """``deadline``: tick by which it is stopped unless its lease is renewed. ``booked``: of the
    node, once it is handed to a slot. ``stopped``: tick at which it was first told to stop."""

    job: LeasedJob
    deadline: float
    leased: float
    wanted: Wanted
    booked: Booked = field(default_factory=Booked)
    slot: int | None = None
    stopping: StopReason | None = None
    stopped: float | None = None

    @property
    def token(self) -> Token:
        return (self.job.id, self.job.attempt)

    def started_job(self, started: datetime, progress: Progress | None) -> StartedJob:
        """For a heartbeat. ``progress``: None where it is not known."""
        return StartedJob(
            id=self.job.id,
            attempt=self.job.attempt,
            started_at=started,
            phase=None if progress is None else progress.phase,
            bytes=None if progress is None else progress.bytes,
        )


@dataclass(slots=True)
class Slot:
    """``queue``: the jobs handed over; the first one runs, since ``since`` (tick) and ``started``
    (UTC)."""

    number: int
    ready: bool = False
    queue: list[HeldJob] = field(default_factory=list)
    since: float = 0.0
    started: datetime | None = None
    tasks: set[UUID] = field(default_factory=set)

    @property
    def booked(self) -> Booked:
        """Of the node: the second job begins when the first has ended, before anybody is asked."""
        return reduce(Booked.most, [held.booked for held in self.queue] or [Booked()])

    def obeys_by(self, patience: float) -> float | None:
        """Tick by which its first job, told to stop, is gone: ``patience`` seconds after it was
        told, and could be. None: it was not told, or the slot is being ended."""
        stopped = self.queue[0].stopped if self.ready and self.queue else None
        return None if stopped is None else max(stopped, self.since) + patience

    def place_for(self, held: HeldJob, free: Booked, devices: Mapping[str, Gpu]) -> Booked | None:
        """What the job would take here; None: there is no room for it. ``free``: of the node, on
        top of what the slot has."""
        if not self.queue:
            return fit(free, held.wanted, devices)
        return fit(free.plus(self.booked), held.wanted, devices)


def token_of(job: JobToken) -> Token:
    return (job.id, job.attempt)
