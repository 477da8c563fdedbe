"""Give the files of ended attempts to downstream tasks, in the transaction that ends them."""

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from sluice.contracts.common.states import TaskState
from sluice.servicekit.database import Connection
from wms.db.dataflow.dataflow_links import add_jobs
from wms.db.dataflow.grouping_state import set_due_behind
from wms.db.jobs.attempts import EndedAttempt
from wms.db.tasks.task_cache import CachedTask
from wms.db.tasks.tasks import LockedTask, UpstreamRead
from wms.domain.splitting.dataflow_rules import build_draft, is_grouping
from wms.domain.splitting.grouping import JobDraft
from wms.usecases.dataflow.grouped_jobs import NewJobs
from wms.usecases.dataflow.take_entries import take_entries


async def start_downstream_jobs(
    connection: Connection,
    ended_attempts: Mapping[UUID, Sequence[EndedAttempt]],
    *,
    registered_counts: Mapping[UUID, Mapping[str, int]],
    locked_tasks: Iterable[LockedTask],
    cached_tasks: Mapping[UUID, CachedTask],
) -> NewJobs:
    """Make downstream jobs of the files of ended attempts.

    The rows of the tasks and of their downstream tasks must be locked. ``registered_counts`` are
    the numbers of files of each task so far, by data set.

    Tasks that form groups come last, because complete groups depend on the jobs of the others. If a
    job wrote no file, tasks further downstream may have waited for it alone: they are marked as
    due.
    """
    jobs, more = 0, False
    tasks_without_file = set[UUID]()
    for downstream in sorted(
        locked_tasks, key=lambda task: is_grouping(cached_tasks[task.uid].task)
    ):
        reading = downstream.reading
        if reading is None or downstream.state is not TaskState.SPLITTING:
            continue
        attempts = ended_attempts.get(reading.upstream)
        if attempts is None:
            continue
        task, upstream = cached_tasks[downstream.uid].task, cached_tasks[reading.upstream].task
        drafts = [
            build_draft(task, upstream, file, dataset=reading.dataset, inputs=attempt.job.inputs)
            for attempt in attempts
            for dataset, file in attempt.files
            if dataset == reading.dataset
        ]
        if is_grouping(task):
            registered_files = registered_counts[reading.upstream].get(str(reading.dataset), 0)
            new_jobs = await take_entries(
                connection, reading, task, drafts, registered_files=registered_files
            )
            jobs, more = jobs + new_jobs.jobs, more or new_jobs.more
            continue
        jobs += await _add_drafts(connection, downstream.uid, drafts)
        if any(_wrote_nothing(attempt, reading) for attempt in attempts):
            tasks_without_file.add(downstream.uid)
    if tasks_without_file:
        more = await set_due_behind(connection, sorted(tasks_without_file)) > 0 or more
    return NewJobs(jobs, more)


async def _add_drafts(connection: Connection, downstream: UUID, drafts: Sequence[JobDraft]) -> int:
    return await add_jobs(connection, downstream, drafts) if drafts else 0


def _wrote_nothing(attempt: EndedAttempt, reading: UpstreamRead) -> bool:
    """Return whether its job has ended permanently without a file for the data set."""
    return attempt.verdict.state.final and all(
        dataset != reading.dataset for dataset, _ in attempt.files
    )
