"""Jobs that a pilot has, with their leases."""

from dataclasses import dataclass, field
from datetime import datetime

from pilot.domain.model import Progress, StopReason, Token
from sluice.contracts.pilots.pilots import JobToken, LeasedJob, StartedJob
from sluice.scheduling.fit import Allocation, ResourceRequest


@dataclass(slots=True)
class AssignedJob:
    """A job that the pilot has a lease on.

    ``deadline`` is the tick at which the job is stopped unless its lease is renewed. ``booked`` is
    its allocation once a slot has it. ``stopped`` is the tick of the first stop. ``kind`` names the
    warm worker that the job needs, or is None.
    """

    job: LeasedJob
    deadline: float
    leased: float
    wanted: ResourceRequest
    booked: Allocation = field(default_factory=Allocation)
    slot: int | None = None
    stopping: StopReason | None = None
    stopped: float | None = None
    kind: str | None = None

    @property
    def token(self) -> Token:
        """Return the fencing token of the job."""
        return (self.job.id, self.job.attempt)

    def started_job(self, started: datetime, progress: Progress | None) -> StartedJob:
        """Return the entry of the job in a heartbeat.

        ``progress`` is None if it is not known.
        """
        return StartedJob(
            id=self.job.id,
            attempt=self.job.attempt,
            started_at=started,
            phase=None if progress is None else progress.phase,
            bytes=None if progress is None else progress.bytes,
        )


def token_of(job: JobToken) -> Token:
    """Return the fencing token of a job."""
    return (job.id, job.attempt)
