"""One pilot, with what it has and what it did last."""

from uuid import UUID

from sluice.contracts.base import Contract, Timestamp
from sluice.contracts.pilot_list import Pilot
from sluice.contracts.states import AttemptOutcome, ErrorClass


class PilotJob(Contract):
    """An attempt of a pilot at a job. ``outcome`` None: it has it now; ``started_at`` None: it has
    not begun. ``seconds``: that it ran."""

    job: int
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


class PilotDetail(Contract):
    """A pilot with what it has now, the attempts that ended last, the last that did not finish, and
    its last ``attempts`` by step."""

    pilot: Pilot
    jobs: list[PilotJob]
    ended: list[PilotJob]
    failures: list[PilotJob]
    steps: list[PilotStep]
    attempts: int
