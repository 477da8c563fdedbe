"""One pilot with its jobs, its last attempts and its statistics."""

from uuid import UUID

from pydantic import Field

from sluice.contracts.common.base import Contract, Timestamp
from sluice.contracts.common.states import AttemptOutcome, ErrorClass
from sluice.contracts.pilots.pilot_list import Pilot


class PilotJob(Contract):
    """An attempt of a pilot at a job.

    Attributes:
        outcome: None if the attempt has not ended.
        started_at: None if the attempt has not started.
        seconds: How long it ran.
    """

    job_id: int
    attempt: int
    task_uid: UUID
    chain_uid: UUID
    step: str
    seq: int
    outcome: AttemptOutcome | None = None
    leased_at: Timestamp
    started_at: Timestamp | None = None
    ended_at: Timestamp | None = None
    seconds: float | None = None
    error_class: ErrorClass | None = None
    message: str = ""


class PilotStep(Contract):
    """Recent attempts of a pilot at the jobs of a step.

    Attributes:
        finished: The number of attempts that succeeded.
        failed: The number of attempts that failed.
        mean: Mean run time of finished attempts in seconds.
        longest: Longest run time of finished attempts in seconds.
    """

    step: str
    template: str
    finished: int
    failed: int
    mean: float | None = None
    longest: float | None = None


class KnownWork(Contract):
    """Statistics of a worker's attempts at a step.

    A worker is all pilots with the same name and host.

    Attributes:
        jobs: The number of finished jobs.
        failures: The number of failed attempts. None from an older WMS.
        seconds: The typical run time. The newest jobs count most.
        likely: A job is likely to end within this number of seconds.
        failing: The share of recent attempts that failed.
    """

    step: str
    template: str
    jobs: int
    failures: int | None = None
    seconds: float | None = None
    likely: float | None = None
    failing: float


class PilotDetail(Contract):
    """A pilot with its jobs and attempts.

    Attributes:
        jobs: The jobs that the pilot has now.
        ended: Its last attempts.
        failures: Its last attempts that failed or were lost.
        steps: A summary of its last attempts by step.
        attempts: The number of attempts in this summary.
        known: The statistics of all its work, the latest first.
    """

    pilot: Pilot
    jobs: list[PilotJob]
    ended: list[PilotJob]
    failures: list[PilotJob]
    steps: list[PilotStep]
    attempts: int
    known: list[KnownWork] = Field(default_factory=list)
