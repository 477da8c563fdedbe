"""What becomes of a job when an attempt at it has ended: retry rules as data, one line per class of error."""

import math
from dataclasses import dataclass

from sluice.contracts.states import ErrorClass, JobState

#: Seconds: longest pause between two attempts.
MAX_DELAY = 3600.0


@dataclass(frozen=True, slots=True)
class RetryRule:
    """``counts``: against the task's ``retry``. ``pauses``: the next attempt waits (back-off); otherwise ``delay`` seconds.
    ``memory``: the next one asks for so many times the memory. ``hopeless``: no retry helps. ``loss``: the node's fault; several
    in a row hold the job."""

    counts: bool = True
    pauses: bool = True
    delay: float = 0.0
    memory: float = 1.0
    hopeless: bool = False
    loss: bool = False


RULES: dict[ErrorClass, RetryRule] = {
    ErrorClass.TOOL_FAILED: RetryRule(),
    ErrorClass.TOOL_REFUSED: RetryRule(hopeless=True),
    ErrorClass.TOOL_TIMEOUT: RetryRule(),
    ErrorClass.OUT_OF_MEMORY: RetryRule(memory=1.5),
    ErrorClass.STAGE_IN_FAILED: RetryRule(),
    ErrorClass.CHECKSUM_MISMATCH: RetryRule(),
    ErrorClass.STAGE_OUT_FAILED: RetryRule(),
    ErrorClass.NO_ROOM: RetryRule(counts=False, pauses=False, delay=5.0),
    ErrorClass.PILOT_LOST: RetryRule(counts=False, pauses=False, loss=True),
    ErrorClass.CANCELED: RetryRule(counts=False, pauses=False, loss=True),
    ErrorClass.INTERNAL: RetryRule(),
}


@dataclass(frozen=True, slots=True)
class History:
    """What is known of a job before this attempt's end. ``failures``: attempts that counted. ``losses``: nodes lost in a row.
    ``ram``: MiB that the ended attempt was given."""

    failures: int = 0
    losses: int = 0
    ram: int = 0


@dataclass(frozen=True, slots=True)
class Limits:
    """``retry``: most attempts that count. ``backoff``: seconds before the second, doubled for each further one.
    ``losses``: nodes lost in a row that make a poison job."""

    retry: int
    backoff: float
    losses: int = 5


@dataclass(frozen=True, slots=True)
class Verdict:
    """The job's next state. ``delay``: seconds until it may be leased again. ``ram``: MiB of the next attempt, or None."""

    state: JobState
    failures: int
    losses: int
    delay: float = 0.0
    ram: int | None = None


def after_success(history: History) -> Verdict:
    return Verdict(JobState.FINISHED, history.failures, 0)


def after_return(history: History) -> Verdict:
    """Handed back unstarted: nobody's fault, and no sign of health either."""
    return Verdict(JobState.READY, history.failures, history.losses)


def after_error(error: ErrorClass, history: History, limits: Limits) -> Verdict:
    """The rule of the error's class applied: ready again, failed for good, or held for a person."""
    rule = RULES[error]
    failures = history.failures + rule.counts
    losses = history.losses + 1 if rule.loss else 0
    if rule.hopeless or (rule.counts and failures >= limits.retry):
        return Verdict(JobState.FAILED, failures, losses)
    if losses >= limits.losses:
        return Verdict(JobState.HELD, failures, losses)
    delay = min(limits.backoff * 2.0 ** (failures - 1), MAX_DELAY) if rule.pauses else rule.delay
    ram = math.ceil(history.ram * rule.memory) if rule.memory > 1.0 else None
    return Verdict(JobState.READY, failures, losses, delay, ram)
