"""One pilot, with what it has and what it did last."""

from uuid import UUID

from pydantic import Field

from sluice.contracts.base import Contract, Timestamp, absent
from sluice.contracts.pilot_list import Pilot
from sluice.contracts.states import AttemptOutcome, ErrorClass


class PilotJob(Contract):
    """An attempt of a pilot at a job. ``outcome`` None: it has it now; ``started_at`` None: it has
    not begun. ``seconds``: that it ran."""

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
    """What a pilot did of a step lately: attempts that finished, that did not, and how many seconds
    the finished ones ran."""

    step: str
    template: str
    finished: int
    failed: int
    mean: float | None = None
    longest: float | None = None


class KnownWork(Contract):
    """What is known of a worker, the pilots of one name and host, from all that it did of a step:
    ``jobs`` that finished, ``failures``: attempts that failed (None: a WMS of the release before
    does not tell). ``seconds`` that one takes, the newest counting most, and within which it has
    ``likely`` ended; ``failing``: the share of its last attempts that failed."""

    step: str
    template: str
    jobs: int
    failures: int | None = Field(default=None, exclude_if=absent)
    seconds: float | None = None
    likely: float | None = None
    failing: float


class PilotDetail(Contract):
    """A pilot with what it has now, the attempts that ended last, the last that did not finish, its
    last ``attempts`` by step, and what is known of its work in all, what it did last first."""

    pilot: Pilot
    jobs: list[PilotJob]
    ended: list[PilotJob]
    failures: list[PilotJob]
    steps: list[PilotStep]
    attempts: int
    known: list[KnownWork] = Field(default_factory=list)
