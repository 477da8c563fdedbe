"""Jobs that a pilot has, with their leases."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from pilot.domain.model import CurrentTime, Instruction, Progress, SendReport, StopReason, Token
from pilot.domain.reports import build_canceled_report, build_returned_report
from sluice.contracts.pilots.heartbeats import StartedJob
from sluice.contracts.pilots.leases import JobToken, LeasedJob
from sluice.scheduling.fit import Allocation, ResourceRequest


@dataclass(slots=True)
class AssignedJob:
    """A job that the pilot has a lease on.

    Attributes:
        deadline: The boot time at which the job is stopped unless its lease is renewed.
        leased_at: The boot time of the lease.
        request: What the job needs.
        allocation: What the job has once a slot has it.
        stopped_at: The boot time of the first stop.
        kind: The warm worker that the job needs, or None.
    """

    job: LeasedJob
    deadline: float
    leased_at: float
    request: ResourceRequest
    allocation: Allocation = field(default_factory=Allocation)
    slot: int | None = None
    stopping: StopReason | None = None
    stopped_at: float | None = None
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


def get_token(job: JobToken) -> Token:
    """Return the fencing token of a job."""
    return (job.id, job.attempt)


@dataclass(slots=True)
class PilotJobs:
    """The jobs that a pilot has.

    Attributes:
        by_token: All jobs.
        waiting: The jobs that no slot has yet, in the order in which they start.
        confirmed_tokens: The jobs whose end the next heartbeat confirms.
        returned_tokens: The unfinished jobs that are given back at sign-off.
    """

    by_token: dict[Token, AssignedJob] = field(default_factory=dict)
    waiting: deque[AssignedJob] = field(default_factory=deque)
    confirmed_tokens: list[Token] = field(default_factory=list)
    returned_tokens: list[Token] = field(default_factory=list)

    def return_jobs(self, jobs: Iterable[AssignedJob], now: CurrentTime) -> Iterator[Instruction]:
        """Give back jobs that no slot has."""
        yield from (SendReport(build_returned_report(self.drop(job).job, now.wall)) for job in jobs)

    def drop(self, job: AssignedJob) -> AssignedJob:
        """Remove a job that no slot has, and return it."""
        self.waiting.remove(job)
        return self.by_token.pop(job.token)

    def confirm_stopped(self, job: AssignedJob) -> None:
        """Confirm the end of a job if the WMS has asked for its stop."""
        if job.stopping in {StopReason.CANCEL, StopReason.ABANDON}:
            self.confirmed_tokens.append(job.token)

    def end_unstarted(self, job: AssignedJob, now: CurrentTime) -> Iterator[Instruction]:
        """Remove a job that was told to stop before its slot started it."""
        del self.by_token[job.token]
        self.confirm_stopped(job)
        if job.stopping is StopReason.CANCEL:
            yield SendReport(build_canceled_report(job.job, now.wall))
        elif job.stopping is StopReason.SHUTDOWN:
            self.returned_tokens.append(job.token)
