"""Jobs that a pilot has at hand, with their leases."""

from dataclasses import dataclass, field
from datetime import datetime

from pilot.domain.model import Progress, StopReason, Token
from sluice.contracts.pilots import JobToken, LeasedJob, StartedJob
from sluice.fit import Booked, Wanted


@dataclass(slots=True)
class HeldJob:
    """``deadline``: tick by which it is stopped unless its lease is renewed. ``booked``: of the
    node, once it is handed to a slot. ``stopped``: tick at which it was first told to stop.
    ``kind``: of the tool that it wants loaded, and stays so; None: of none."""

    job: LeasedJob
    deadline: float
    leased: float
    wanted: Wanted
    booked: Booked = field(default_factory=Booked)
    slot: int | None = None
    stopping: StopReason | None = None
    stopped: float | None = None
    kind: str | None = None

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


def token_of(job: JobToken) -> Token:
    return (job.id, job.attempt)
