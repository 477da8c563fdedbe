"""How many jobs the steps of a rerun will have, as far as the chain before tells it."""

from collections.abc import Mapping, Sequence

from sluice.contracts.chains import RerunStep
from sluice.contracts.plan import PlanStep
from sluice.contracts.states import TaskState
from sluice.contracts.tasks import TaskStatus
from wfms.chains.domain.rerun import Rerun, Wish


def step_of_rerun(
    rerun: Rerun, wish: Wish, step: PlanStep, counts: Mapping[str, TaskStatus]
) -> RerunStep:
    """``counts``: of the tasks that did the steps before, by step; some may be lacking."""
    if step.name not in rerun.runs:
        return RerunStep(name=step.name, runs=False, reason="it finished")
    status = counts.get(step.name)
    before = {source.step for source in step.sources if source.step in rerun.runs}
    # What a step before makes anew, no finished job has read.
    takes = step.name in rerun.by_jobs and before <= rerun.by_jobs
    taken = status.finished if status is not None and takes else 0
    sources = [counts.get(str(name)) for name in before]
    known = status is not None and _as_many(step, status, sources, same=_same(wish))
    return RerunStep(
        name=step.name,
        runs=True,
        jobs=status.total - taken if status is not None and known else None,
        taken=taken,
        reason=rerun.runs[step.name],
    )


def _same(wish: Wish) -> bool:
    return wish.params == wish.before


def _as_many(
    step: PlanStep, status: TaskStatus, before: Sequence[TaskStatus | None], *, same: bool
) -> bool:
    """Will the step have as many jobs as it had? It had them all where it finished, or reads what
    was there at the beginning. ``before``: steps that it reads and that run again, too: what they
    give is as much as it was where all of their jobs finished, with the same parameters."""
    all_made = status.state is TaskState.FINISHED or not any(source.step for source in step.sources)
    complete = all(
        one is not None and one.state is TaskState.FINISHED and not one.failed for one in before
    )
    return bool(status.total) and all_made and complete and (same or not before)
