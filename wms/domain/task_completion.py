"""When and how a task ends: the boundary conditions on the share of jobs that must succeed."""

import math
from dataclasses import dataclass, replace

from sluice.contracts.common.numbers import format_count
from sluice.contracts.common.states import TaskState
from sluice.contracts.templates.plan import Boundary

#: Jobs that must have ended before errors are compared with successes.
FIRST_FEW = 20
#: Below this minimum, more errors than successes may still be a success, so they are not compared.
WEIGHED_MINIMUM = 0.5


@dataclass(frozen=True, slots=True)
class JobCounts:
    """A task's jobs by state."""

    ready: int = 0
    leased: int = 0
    running: int = 0
    finished: int = 0
    failed: int = 0
    canceled: int = 0
    quarantined: int = 0
    asked: int = 0

    def with_ready(self, more: int) -> "JobCounts":
        """Return the counts with more ready jobs."""
        return replace(self, ready=self.ready + more)

    @property
    def total(self) -> int:
        """The number of all jobs."""
        return (
            self.ready
            + self.leased
            + self.running
            + self.finished
            + self.failed
            + self.canceled
            + self.quarantined
            + self.asked
        )

    @property
    def open(self) -> int:
        """Jobs that can still succeed: quarantined jobs cannot, jobs of human tasks can."""
        return self.ready + self.leased + self.running + self.asked


@dataclass(frozen=True, slots=True)
class TaskEnding:
    """The final state of a task, and the reason."""

    state: TaskState
    reason: str


def count_needed_jobs(share: float, total: int) -> int:
    """Return the number of jobs in ``share`` of ``total``, rounded up.

    Shares such as 0.1 of 10 give 1, whatever their binary rounding.
    """
    return min(total, math.ceil(share * total - 1e-9))


def decide_ending(boundary: Boundary, counts: JobCounts) -> TaskEnding | None:
    """Return how a task all of whose jobs exist ends now, or None while it continues.

    - It has no jobs, because a filter before it left nothing: finished.
    - The sufficient share has finished: finished, and the rest is canceled.
    - The minimum is out of reach: failed at once.
    - Only quarantined jobs are left and the minimum is reached: finished, so that no person has
      to look at them.
    - After a first few jobs, errors outnumber successes, and the minimum is at least half:
      canceled.
    """
    total, finished, failed = counts.total, counts.finished, counts.failed
    share = f"{finished} of {format_count(total, 'job')} finished"
    if total == 0:
        return TaskEnding(TaskState.FINISHED, "its input data set has no files: nothing to do")
    minimum = count_needed_jobs(boundary.minimum, total)
    sufficient = max(minimum, count_needed_jobs(boundary.sufficient, total))
    if finished >= sufficient and (finished > 0 or not counts.open):
        rest = total - finished - failed
        return TaskEnding(
            TaskState.FINISHED,
            share + _describe_rest(failed, rest, sufficient),
        )
    if finished + counts.open + counts.quarantined < minimum:
        return TaskEnding(TaskState.FAILED, _describe_failure(failed, total, boundary))
    if not counts.open and finished >= minimum:
        return TaskEnding(
            TaskState.FINISHED,
            share + _describe_rest(failed, counts.quarantined, sufficient),
        )
    if failed > finished and finished + failed >= FIRST_FEW and boundary.minimum >= WEIGHED_MINIMUM:
        return TaskEnding(
            TaskState.CANCELED,
            f"errors outnumber successes: of the first {finished + failed} jobs {failed} failed (of"
            f" {total})",
        )
    return None


def _describe_failure(failed: int, total: int, boundary: Boundary) -> str:
    """Return the reason of a failure: the failed jobs put the minimum out of reach."""
    share = f"{failed} of {format_count(total, 'job')} failed"
    if boundary.minimum == 1:
        requirement = {1: "it must", 2: "both must"}.get(total, f"all {total} must")
        return f"{share}; {requirement} succeed (sluice:boundary lets a step continue without some)"
    return (
        f"{share}, so that the {count_needed_jobs(boundary.minimum, total)} that must succeed"
        f" (minimum {boundary.minimum:g} of them, sluice:boundary) cannot be reached"
    )


def _describe_rest(failed: int, canceled: int, sufficient: int) -> str:
    parts = [f"{failed} failed"] if failed else []
    if canceled:
        parts.append(f"{canceled} canceled, because {sufficient} are sufficient")
    return "".join(f", {part}" for part in parts)
