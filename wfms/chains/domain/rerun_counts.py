"""The number of jobs that the steps of a rerun will have, as far as it is known before."""

from collections.abc import Mapping, Sequence

from sluice.contracts.chains.chains import RerunStep
from sluice.contracts.common.states import TaskState
from sluice.contracts.jobs.tasks import TaskStatus
from sluice.contracts.templates.plan import PlanStep
from wfms.chains.domain.rerun import Rerun, RerunRequest


def describe_rerun_step(
    rerun: Rerun, request: RerunRequest, step: PlanStep, counts: Mapping[str, TaskStatus]
) -> RerunStep:
    """Return what a rerun does with a step.

    Args:
        rerun: The plan of the rerun.
        request: The request.
        step: The step.
        counts: Counts of the tasks that did the steps before, by step. Some may be missing.
    """
    if step.name not in rerun.runs:
        return RerunStep(name=step.name, runs=False, reason="it finished")
    status = counts.get(step.name)
    before = {source.step for source in step.sources if source.step in rerun.runs}
    # No finished job has read what an upstream step writes again.
    takes = step.name in rerun.by_jobs and before <= rerun.by_jobs
    taken_over = status.finished if status is not None and takes else 0
    sources = [counts.get(str(name)) for name in before]
    is_count_known = status is not None and _has_as_many_jobs(
        step, status, sources, has_same_parameters=_same(request)
    )
    return RerunStep(
        name=step.name,
        runs=True,
        jobs=status.total - taken_over if status is not None and is_count_known else None,
        taken=taken_over,
        reason=rerun.runs[step.name],
    )


def _same(request: RerunRequest) -> bool:
    return request.params == request.before


def _has_as_many_jobs(
    step: PlanStep,
    status: TaskStatus,
    before: Sequence[TaskStatus | None],
    *,
    has_same_parameters: bool,
) -> bool:
    """Return whether the step will have as many jobs as it had.

    All its jobs existed if it finished, or if it reads only what existed at the beginning.
    ``before`` has the upstream steps that run again. Their output has the same size if all their
    jobs finished and the parameters are the same.
    """
    all_jobs_existed = status.state is TaskState.FINISHED or not any(
        source.step for source in step.sources
    )
    complete = all(
        one is not None and one.state is TaskState.FINISHED and not one.failed for one in before
    )
    return (
        bool(status.total) and all_jobs_existed and complete and (has_same_parameters or not before)
    )
