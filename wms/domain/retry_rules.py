"""Retry rules: what follows from a failed attempt, one rule for each class of error."""

import math
from collections.abc import Collection
from dataclasses import dataclass

from sluice.contracts.common.states import ErrorClass, JobState
from sluice.contracts.templates.plan import RetryOverride
from sluice.scheduling.backoff import pause_after

#: Seconds: longest pause between two attempts.
MAX_DELAY = 3600.0


@dataclass(frozen=True, slots=True)
class RetryRule:
    """The retry rule of a class of error.

    Attributes:
        counts: The attempt counts against the task's ``retry``.
        pauses: The next attempt waits (back-off). Otherwise it waits ``delay`` seconds, doubled
            with each attempt up to ``max_delay``.
        memory: Factor of memory for the next attempt. If no node has that much, the job fails.
        retry_is_useless: A retry does not help, so the job fails.
        override: The word in the task's ``retry_also`` that asks for a retry all the same, or None
            if there is no such word.
        counts_as_node_loss: The node was lost. Several losses in a row quarantine the job.
        blames_pilot: A failure of this class counts against the pilot in its statistics.
        counts_as_failed_attempt: The attempt counts among the failed attempts of its task.
    """

    counts: bool = True
    pauses: bool = True
    delay: float = 0.0
    max_delay: float = 0.0
    memory: float = 1.0
    retry_is_useless: bool = False
    override: RetryOverride | None = None
    counts_as_node_loss: bool = False
    blames_pilot: bool = True
    counts_as_failed_attempt: bool = True


RULES: dict[ErrorClass, RetryRule] = {
    ErrorClass.TOOL_FAILED: RetryRule(),
    ErrorClass.TOOL_REFUSED: RetryRule(retry_is_useless=True, blames_pilot=False),
    ErrorClass.TOOL_TIMEOUT: RetryRule(retry_is_useless=True, override="tool_timeout"),
    ErrorClass.OUT_OF_MEMORY: RetryRule(memory=1.5, override="out_of_memory"),
    ErrorClass.STAGE_IN_FAILED: RetryRule(),
    ErrorClass.CHECKSUM_MISMATCH: RetryRule(),
    ErrorClass.STAGE_OUT_FAILED: RetryRule(),
    ErrorClass.NO_SPACE: RetryRule(
        counts=False,
        pauses=False,
        delay=5.0,
        max_delay=600.0,
        blames_pilot=False,
        counts_as_failed_attempt=False,
    ),
    ErrorClass.PILOT_LOST: RetryRule(counts=False, pauses=False, counts_as_node_loss=True),
    # The pilot stopped the job of a live task although the WMS did not ask for that. This is not
    # the job's fault. As a node loss, it quarantines the job if it happens again and again.
    # Without this limit, the job would be retried forever.
    ErrorClass.CANCELED: RetryRule(counts=False, pauses=False, counts_as_node_loss=True),
    ErrorClass.INTERNAL: RetryRule(),
}

#: Factor of GPU memory for the next attempt on a shared GPU.
_GPU_MEMORY_FACTOR = 1.5

#: Exit codes of a shell whose program cannot be run or does not exist, so that the tool never ran.
NO_PROGRAM = frozenset({126, 127})
_NO_PROGRAM = RetryRule(retry_is_useless=True, override="no_program")


@dataclass(frozen=True, slots=True)
class History:
    """The history of a job before the attempt ended.

    Attributes:
        failures: Attempts that counted.
        losses: Nodes lost in a row.
        ram: MiB that the attempt requested.
        gpu: MiB of the GPU that it had and that was full. None if no GPU was full.
        shared: Whether it had a part of a GPU.
        attempts: All attempts at the job so far, whether or not they counted.
        used_ram: MiB that it used, as its pilot reports.
    """

    failures: int = 0
    losses: int = 0
    ram: int = 0
    gpu: int | None = None
    shared: bool = False
    attempts: int = 1
    used_ram: int = 0


@dataclass(frozen=True, slots=True)
class RetryLimits:
    """The limits of retries of a task.

    Attributes:
        retry: Most attempts that count.
        backoff: Seconds before the second attempt, doubled for each further one.
        max_node_losses: Number of nodes lost in a row that quarantines a job.
        also: Errors that are retried although a retry does not help.
        temporary: Exit codes of the tool after which another attempt may help.
        largest_ram: MiB of the largest suitable node; None if unknown.
        largest_gpu: MiB of the largest suitable GPU; None if unknown.
    """

    retry: int
    backoff: float
    max_node_losses: int = 5
    also: Collection[RetryOverride] = ()
    temporary: Collection[int] = ()
    largest_ram: int | None = None
    largest_gpu: float | None = None


@dataclass(frozen=True, slots=True)
class RetryDecision:
    """The job's next state.

    Attributes:
        delay: Seconds until it may be leased again.
        ram: MiB of the next attempt, if they change.
        note: Text in addition to the attempt's own message.
        gpu: MiB of GPU memory of the next attempt, if they change.
    """

    state: JobState
    failures: int
    losses: int
    delay: float = 0.0
    ram: int | None = None
    note: str = ""
    gpu: int | None = None


def get_rule(error: ErrorClass | None) -> RetryRule:
    """Return the rule of a class of error; an error without a class is one of Sluice."""
    return RULES[error or ErrorClass.INTERNAL]


def decide_after_success(history: History) -> RetryDecision:
    """Return the decision after a success."""
    return RetryDecision(JobState.FINISHED, history.failures, 0)


def decide_after_return(history: History) -> RetryDecision:
    """Return the decision about a job that was returned without a start; its counts stay."""
    return RetryDecision(JobState.READY, history.failures, history.losses)


def decide_after_error(
    error: ErrorClass, history: History, limits: RetryLimits, *, exit_code: int | None = None
) -> RetryDecision:
    """Apply the rule of the error: the job is ready again, failed permanently, or quarantined."""
    rule = RULES[error]
    if (
        error is ErrorClass.TOOL_FAILED
        and exit_code in NO_PROGRAM
        and exit_code not in limits.temporary
    ):
        rule = _NO_PROGRAM
    failures = history.failures + rule.counts
    losses = history.losses + 1 if rule.counts_as_node_loss else 0
    ram, gpu = None, None
    if history.gpu is None:
        ram, note = _request_more_memory(rule, history, limits)
    else:
        gpu, note = _request_larger_gpu(history.gpu, history, limits)
    gives_up = (rule.retry_is_useless or bool(note)) and rule.override not in limits.also
    if gives_up or (rule.counts and failures >= limits.retry):
        return RetryDecision(JobState.FAILED, failures, losses, note=note if gives_up else "")
    if losses >= limits.max_node_losses:
        return RetryDecision(JobState.QUARANTINED, failures, losses)
    delay = (
        pause_after(failures, first=limits.backoff, max_pause=MAX_DELAY)
        if rule.pauses
        else pause_after(
            history.attempts, first=rule.delay, max_pause=max(rule.delay, rule.max_delay)
        )
    )
    if note:  # the template asks for a retry all the same
        ram, gpu = None, None
    return RetryDecision(JobState.READY, failures, losses, delay, ram, gpu=gpu)


def _request_larger_gpu(current: int, history: History, limits: RetryLimits) -> tuple[int, str]:
    """Return the MiB of GPU memory of the next attempt, and why it cannot have them.

    A whole GPU must be larger than the last one; a part of one grows by half.
    """
    largest_gpu = math.inf if limits.largest_gpu is None else limits.largest_gpu
    larger = current + 1
    if history.shared:
        larger = max(larger, int(min(math.ceil(current * _GPU_MEMORY_FACTOR), largest_gpu)))
    if larger <= largest_gpu:
        return larger, ""
    return (
        larger,
        (
            f"not tried again: no node that could run it has a GPU with more than {current} MiB of"
            f" memory, which it had (the largest GPU has {largest_gpu:.0f} MiB)"
        ),
    )


def _request_more_memory(
    rule: RetryRule, history: History, limits: RetryLimits
) -> tuple[int | None, str]:
    """Return the MiB of the next attempt, and why it cannot have them.

    The use that a pilot reports may at most lead to a request for the largest node. Only the
    attempt's own request can show that no node is large enough.
    """
    if rule.memory <= 1.0:
        return None, ""
    ram = math.ceil(history.ram * rule.memory)
    if limits.largest_ram is None or ram <= limits.largest_ram:
        used = math.ceil(history.used_ram * rule.memory)
        return max(ram, used if limits.largest_ram is None else min(used, limits.largest_ram)), ""
    return (
        ram,
        (
            f"not tried again: no node has the {ram} MiB of memory that another attempt would"
            f" request (the largest node has {limits.largest_ram} MiB)"
        ),
    )
