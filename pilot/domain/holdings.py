"""What a pilot has at hand: jobs with their leases, and slots with the jobs handed to them."""

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from pilot.domain.model import StopReason, Token
from sluice.contracts.pilots import JobToken, LeasedJob


@dataclass(slots=True)
class HeldJob:
    """``deadline``: tick by which it is stopped unless its lease is renewed."""

    job: LeasedJob
    deadline: float
    leased: float
    slot: int | None = None
    stopping: StopReason | None = None

    @property
    def token(self) -> Token:
        return (self.job.id, self.job.attempt)


@dataclass(slots=True)
class Slot:
    """``queue``: the jobs handed over; the first one runs, since ``since`` (tick) and ``started`` (UTC)."""

    number: int
    ready: bool = False
    queue: list[HeldJob] = field(default_factory=list)
    since: float = 0.0
    started: datetime | None = None
    tasks: set[UUID] = field(default_factory=set)


def token_of(job: JobToken) -> Token:
    return (job.id, job.attempt)
