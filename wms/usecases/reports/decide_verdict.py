"""Decide what happens to a job after an attempt, by the retry rules."""

import math
from dataclasses import dataclass

from sluice.contracts.common.states import AttemptOutcome, ErrorClass
from wms.db.jobs.attempts import JobInFlight
from wms.db.tasks.task_cache import CachedTask
from wms.domain.retry_rules import (
    History,
    RetryDecision,
    RetryLimits,
    decide_after_error,
    decide_after_return,
    decide_after_success,
)


@dataclass(frozen=True, slots=True)
class AttemptFacts:
    """How an attempt ended, as far as the retry rules need it.

    Attributes:
        peak_memory: MiB, if known.
        full_gpu: MiB of the GPU that was full. None if no GPU was full, as far as is known.
        waits_for_storage: Whether the task waits until the storage that was full has space.
    """

    outcome: AttemptOutcome
    error: ErrorClass | None = None
    exit_code: int | None = None
    peak_memory: float | None = None
    full_gpu: int | None = None
    waits_for_storage: bool = False


@dataclass(frozen=True, slots=True)
class LargestNode:
    """MiB of the largest suitable node and GPU, if they matter."""

    ram: int | None = None
    gpu: float | None = None


def decide_verdict(
    cached_task: CachedTask,
    job: JobInFlight,
    end: AttemptFacts,
    *,
    max_node_losses: int,
    largest_node: LargestNode = LargestNode(),
) -> RetryDecision:
    """Apply the retry rules to the end of an attempt at a job.

    ``max_node_losses`` is the number of nodes lost in a row that quarantines a job. If another
    attempt at the job continues, an attempt without success changes nothing.
    """
    sibling = job.live_sibling
    if sibling is not None and end.outcome is not AttemptOutcome.FINISHED:
        note = f"attempt {sibling.attempt} continues"
        return RetryDecision(job.state, job.failures, job.losses, note=note)
    task = cached_task.task
    ram = task.needs.resources.counted_ram if job.ram is None else job.ram
    gpus = task.needs.gpus
    # If the task itself waits for space on its storage, its jobs need no pause.
    history = History(
        job.failures,
        job.losses,
        ram,
        end.full_gpu if gpus and end.error is ErrorClass.OUT_OF_MEMORY else None,
        shared=gpus is not None and gpus.share < 1,
        attempts=1 if end.waits_for_storage else job.attempt,
        used_ram=math.ceil(end.peak_memory or 0),
    )
    match end.outcome:
        case AttemptOutcome.FINISHED:
            return decide_after_success(history)
        case AttemptOutcome.RETURNED:
            return decide_after_return(history)
        case AttemptOutcome.FAILED | AttemptOutcome.CANCELED | AttemptOutcome.LOST:
            limits = RetryLimits(
                task.retry,
                task.backoff,
                max_node_losses,
                task.retry_also,
                cached_task.temporary_codes,
                largest_node.ram,
                largest_node.gpu,
            )
            return decide_after_error(
                end.error or ErrorClass.INTERNAL, history, limits, exit_code=end.exit_code
            )
