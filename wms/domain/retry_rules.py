"""What becomes of a job when an attempt at it has ended: retry rules as data, one line per class of
error."""

import math
from collections.abc import Collection
from dataclasses import dataclass

from sluice.backoff import pause_after
from sluice.contracts.plan import Hopeless
from sluice.contracts.states import ErrorClass, JobState

#: Seconds: longest pause between two attempts.
MAX_DELAY = 3600.0


@dataclass(frozen=True, slots=True)
class RetryRule:
    """``counts``: against the task's ``retry``. ``pauses``: the next attempt waits (back-off);
    otherwise ``delay`` seconds, doubled with each attempt up to ``longest``. ``memory``: the next
    one asks for so many times the memory; where no node has it, no retry helps. ``hopeless``: no
    retry helps. ``unless``: by this word a template has it tried again all the same. ``loss``: the
    node's fault; several in a row hold the job."""

    counts: bool = True
    pauses: bool = True
    delay: float = 0.0
    longest: float = 0.0
    memory: float = 1.0
    hopeless: bool = False
    unless: Hopeless | None = None
    loss: bool = False


RULES: dict[ErrorClass, RetryRule] = {
    ErrorClass.TOOL_FAILED: RetryRule(),
    ErrorClass.TOOL_REFUSED: RetryRule(hopeless=True),
    ErrorClass.TOOL_TIMEOUT: RetryRule(hopeless=True, unless="tool_timeout"),
    ErrorClass.OUT_OF_MEMORY: RetryRule(memory=1.5, unless="out_of_memory"),
    ErrorClass.STAGE_IN_FAILED: RetryRule(),
    ErrorClass.CHECKSUM_MISMATCH: RetryRule(),
    ErrorClass.STAGE_OUT_FAILED: RetryRule(),
    ErrorClass.NO_ROOM: RetryRule(counts=False, pauses=False, delay=5.0, longest=600.0),
    ErrorClass.PILOT_LOST: RetryRule(counts=False, pauses=False, loss=True),
    ErrorClass.CANCELED: RetryRule(counts=False, pauses=False, loss=True),
    ErrorClass.INTERNAL: RetryRule(),
}

#: Of a GPU that is shared, the part that the next attempt asks for.
_MORE_OF_A_GPU = 1.5

#: A tool that failed with one of these was never run: as a shell says it, its program cannot be
#: run, or is not there.
NO_PROGRAM = frozenset({126, 127})
_NO_PROGRAM = RetryRule(hopeless=True, unless="no_program")


@dataclass(frozen=True, slots=True)
class History:
    """What is known of a job before this attempt's end. ``failures``: attempts that counted.
    ``losses``: nodes lost in a row. ``ram``: MiB that the ended attempt asked for; ``used_ram``:
    MiB that it used, as its pilot says. ``gpu``: MiB of the GPU that it had and that was full,
    None: none was; ``shared``: it had a part of one."""

    failures: int = 0
    losses: int = 0
    ram: int = 0
    gpu: int | None = None
    shared: bool = False
    #: Attempts at the job so far, whether or not they counted.
    attempts: int = 1
    used_ram: int = 0


@dataclass(frozen=True, slots=True)
class RetryLimits:
    """``retry``: most attempts that count. ``backoff``: seconds before the second, doubled for each
    further one. ``losses``: nodes lost in a row that make a poison job. ``also``: what is tried
    again although no retry helps. ``temporary``: exit codes of which the tool says that another
    attempt may help. ``most_ram``: MiB of the largest node that the task could be given,
    ``most_gpu``: of the largest GPU; None: not known."""

    retry: int
    backoff: float
    losses: int = 5
    also: Collection[Hopeless] = ()
    temporary: Collection[int] = ()
    most_ram: int | None = None
    most_gpu: float | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The job's next state. ``delay``: seconds until it may be leased again. ``ram``, ``gpu``: MiB
    of the next attempt, or None. ``note``: what is to be said beside the attempt's own message."""

    state: JobState
    failures: int
    losses: int
    delay: float = 0.0
    ram: int | None = None
    note: str = ""
    gpu: int | None = None


def after_success(history: History) -> Verdict:
    return Verdict(JobState.FINISHED, history.failures, 0)


def after_return(history: History) -> Verdict:
    """Handed back unstarted: nobody's fault, and no sign of health either."""
    return Verdict(JobState.READY, history.failures, history.losses)


def after_error(
    error: ErrorClass, history: History, limits: RetryLimits, *, exit_code: int | None = None
) -> Verdict:
    """The rule of the error's class applied: ready again, failed for good, or held for a person."""
    rule = RULES[error]
    if (
        error is ErrorClass.TOOL_FAILED
        and exit_code in NO_PROGRAM
        and exit_code not in limits.temporary
    ):
        rule = _NO_PROGRAM
    failures = history.failures + rule.counts
    losses = history.losses + 1 if rule.loss else 0
    ram, gpu = None, None
    if history.gpu is None:
        ram, note = _more_memory(rule, history, limits)
    else:
        gpu, note = _larger_gpu(history.gpu, history, limits)
    hopeless = (rule.hopeless or bool(note)) and rule.unless not in limits.also
    if hopeless or (rule.counts and failures >= limits.retry):
        return Verdict(JobState.FAILED, failures, losses, note=note if hopeless else "")
    if losses >= limits.losses:
        return Verdict(JobState.HELD, failures, losses)
    delay = (
        pause_after(failures, first=limits.backoff, longest=MAX_DELAY)
        if rule.pauses
        else pause_after(history.attempts, first=rule.delay, longest=max(rule.delay, rule.longest))
    )
    if note:  # tried again all the same, as the template says
        ram, gpu = None, None
    return Verdict(JobState.READY, failures, losses, delay, ram, gpu=gpu)


def _larger_gpu(had: int, history: History, limits: RetryLimits) -> tuple[int, str]:
    """MiB of the next attempt's GPU, and why it cannot have them: any that has more than a whole
    one, half as much again of one that is shared."""
    most = math.inf if limits.most_gpu is None else limits.most_gpu
    more = had + 1
    if history.shared:
        more = max(more, int(min(math.ceil(had * _MORE_OF_A_GPU), most)))
    if more <= most:
        return more, ""
    return (
        more,
        (
            f"not tried again: no node that could run it has a GPU with more than {had} MiB of"
            f" memory, which it had (the largest {most:.0f})"
        ),
    )


def _more_memory(rule: RetryRule, history: History, limits: RetryLimits) -> tuple[int | None, str]:
    """Return the MiB of the next attempt, and why it cannot have them.

    What a pilot says of an attempt may ask for the largest node; that no node is large enough
    follows only from what the attempt asked for itself.
    """
    if rule.memory <= 1.0:
        return None, ""
    ram = math.ceil(history.ram * rule.memory)
    if limits.most_ram is None or ram <= limits.most_ram:
        used = math.ceil(history.used_ram * rule.memory)
        return max(ram, used if limits.most_ram is None else min(used, limits.most_ram)), ""
    return (
        ram,
        (
            f"not tried again: no node has the {ram} MiB that another attempt would ask for (the"
            f" largest {limits.most_ram})"
        ),
    )
