"""Apply the ends of attempts: the one place where a job of a live task leaves its pilot.

The end may come from a report, an expired lease, or a pilot that signs off.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from sluice.contracts.common.life_cycles import require_move
from sluice.contracts.common.states import AttemptOutcome, ErrorClass, JobState, TaskState
from sluice.contracts.data.datasets import NewFile
from sluice.servicekit.database import Connection, Transaction
from wms.db.dataflow.tree_parts import TreePart, keep_parts
from wms.db.jobs.attempts import EndedAttempt, TaskChange, end_attempts
from wms.db.jobs.duplicate_attempts import delete_duplicates, end_duplicates_only, swap_attempts
from wms.db.pilots.pilot_times import WorkKind
from wms.db.ready_channel import notify_ready
from wms.db.tasks.task_cache import CachedTask
from wms.db.tasks.tasks import LockedTask
from wms.domain.failure_text import format_failure
from wms.domain.retry_rules import get_rule
from wms.domain.splitting.tree_merge import find_part, get_level
from wms.domain.task_completion import JobCounts, TaskEnding, decide_ending
from wms.domain.transitions import JOB_MOVES
from wms.usecases.context import WmsContext
from wms.usecases.dataflow.extend_tree import extend_tree
from wms.usecases.dataflow.release_files import release_files
from wms.usecases.dataflow.start_downstream_jobs import start_downstream_jobs
from wms.usecases.reports.attempt_end_buffer import AttemptEnd
from wms.usecases.tasks.end_task import end_task, send_file_registrations

#: Outcomes that count as failures of the task, unless the rule of the error says otherwise
#: (``counts_as_failed_attempt``). Canceled and returned attempts do not count: neither the job nor
#: its tool is in trouble.
_UNSUCCESSFUL = frozenset({AttemptOutcome.FAILED, AttemptOutcome.LOST})


class RowLockLost(Exception):
    """A program error: jobs changed although the rows of their tasks were locked.

    The transaction is rolled back.
    """

    def __init__(self, expected_count: int, moved_count: int) -> None:
        super().__init__(
            f"{moved_count} of {expected_count} attempts could be ended, all under the lock"
            " of their tasks"
        )
        self.expected_count = expected_count
        self.moved_count = moved_count


@dataclass(slots=True)
class SettlementEffects:
    """The effects of ended attempts outside of the database, applied after the commit.

    Attributes:
        delays: Seconds until jobs are ready again.
        task_endings: Ends of tasks.
        has_more_entries: Tasks have more entries to put into groups.
        jobs: Number of jobs made of the files of the attempts.
    """

    delays: set[float] = field(default_factory=set)
    task_endings: list[TaskEnding] = field(default_factory=list)
    has_more_entries: bool = False
    jobs: int = 0
    attempts: Sequence[EndedAttempt] = ()
    ends: Sequence[AttemptEnd] = ()

    def announce(self, context: WmsContext) -> None:
        """Wake waiting requests and count; call it after the commit."""
        for delay in self.delays:
            context.signal.ready_in(delay)
        if self.jobs:
            context.signal.ready()
        # Downstream of an ended task, all files exist now.
        if self.has_more_entries or self.task_endings:
            context.signal.wake_splitting()
        context.ends.add(self.ends)
        for decided in self.task_endings:
            context.metrics.tasks_ended.labels(decided.state).inc()
        ends = Counter((attempt.outcome, attempt.error or "") for attempt in self.attempts)
        for (outcome, error), number in ends.items():
            context.metrics.attempts.labels(outcome, error).inc(number)


async def settle_attempts(
    transaction: Transaction,
    locked_tasks: Mapping[UUID, LockedTask],
    *,
    cached_tasks: Mapping[UUID, CachedTask],
    attempts: Sequence[EndedAttempt],
    pilot: UUID | None = None,
) -> SettlementEffects:
    """Apply the ends of attempts.

    The transaction must have locked the rows of the tasks, and after a report those of their
    downstream tasks. The jobs must have been read under these locks. ``pilot`` reported the
    attempts; its counters change.

    It moves the jobs, stores the attempts, updates the counters and ends tasks that are decided. It
    makes jobs of the attempts' files in downstream tasks and tree levels. It sends ``dms.files``,
    one message per data set, and the messages of ``release_files`` and ``end_task``.

    Raises:
        RowLockLost: A job changed although it was locked.
        IllegalTransition: A job cannot move from its state to that of the verdict.
    """
    effects = SettlementEffects(
        attempts=attempts, ends=list(_list_attempt_ends(attempts, cached_tasks))
    )
    if not attempts:
        return effects
    duplicates = [attempt for attempt in attempts if attempt.leaves_job_in_flight]
    final_attempts = [attempt for attempt in attempts if not attempt.leaves_job_in_flight]
    _require_moves(final_attempts)
    changes = {
        uid: _Change.of(locked_tasks[uid], ended) for uid, ended in _group_by_task(attempts).items()
    }
    await _end_in_database(
        transaction.connection,
        duplicates=duplicates,
        final_attempts=final_attempts,
        changes=[change.task_change for change in changes.values()],
        pilot=pilot,
    )
    effects.delays = {
        attempt.verdict.delay
        for attempt in final_attempts
        if attempt.verdict.state is JobState.READY
    }
    ended = _group_by_task(final_attempts)
    new_jobs = await start_downstream_jobs(
        transaction.connection,
        ended,
        registered_counts={uid: change.registered_counts for uid, change in changes.items()},
        locked_tasks=locked_tasks.values(),
        cached_tasks=cached_tasks,
    )
    effects.jobs, effects.has_more_entries = new_jobs.jobs, new_jobs.more
    release_files(transaction, ended, locked_tasks=locked_tasks, cached_tasks=cached_tasks)
    for uid, change in changes.items():
        await _conclude_task(transaction, change, cached_tasks[uid], effects)
    if effects.jobs or 0.0 in effects.delays:
        await notify_ready(transaction.connection)
    return effects


def _require_moves(attempts: Iterable[EndedAttempt]) -> None:
    for attempt in attempts:
        require_move(
            JOB_MOVES, attempt.job.state, attempt.verdict.state, what=f"job {attempt.job.id}"
        )


def _list_attempt_ends(
    attempts: Iterable[EndedAttempt], cached_tasks: Mapping[UUID, CachedTask]
) -> Iterator[AttemptEnd]:
    """Yield what the statistics of pilots learn from the ends.

    A failure caused by the input or a full disk says nothing about the pilot. A pilot that was lost
    or restarted has failed once for each kind of work, however many of its jobs ran.
    """
    vanished = set[tuple[WorkKind, UUID]]()
    works = {
        uid: WorkKind(cached_task.task.template, cached_task.task.step)
        for uid, cached_task in cached_tasks.items()
    }
    for attempt in attempts:
        job, work = attempt.job, works[attempt.job.task_uid]
        if attempt.error is ErrorClass.PILOT_LOST:
            if job.started_at is not None and (work, job.pilot) not in vanished:
                vanished.add((work, job.pilot))
                yield AttemptEnd(work, job.pilot, None)
        elif attempt.outcome is AttemptOutcome.FAILED:
            if get_rule(attempt.error).blames_pilot:
                yield AttemptEnd(work, job.pilot, None)
        elif attempt.outcome is AttemptOutcome.FINISHED:
            if attempt.duration is not None:
                yield AttemptEnd(work, job.pilot, attempt.duration)
            if (sibling := job.live_sibling) is not None and sibling.ran is not None:
                yield AttemptEnd(work, sibling.pilot, sibling.ran, is_least=True)


async def _end_in_database(
    connection: Connection,
    *,
    duplicates: Sequence[EndedAttempt],
    final_attempts: Sequence[EndedAttempt],
    changes: Sequence[TaskChange],
    pilot: UUID | None,
) -> None:
    """End the attempts in the database.

    ``duplicates`` are attempts whose jobs continue in the sibling attempt. ``final_attempts`` are
    attempts that end their jobs or let them start again.

    Raises:
        RowLockLost: A job changed although it was locked.
    """
    await swap_attempts(
        connection,
        [attempt.job.id for attempt in duplicates if not attempt.job.is_duplicate]
        + [attempt.job.id for attempt in final_attempts if attempt.job.is_duplicate],
    )
    moved = await end_duplicates_only(connection, duplicates)
    moved += await end_attempts(
        connection, final_attempts, changes, pilot=pilot, duplicates=duplicates
    )
    if moved != len(duplicates) + len(final_attempts):
        raise RowLockLost(len(duplicates) + len(final_attempts), moved)
    for attempt in final_attempts:
        if attempt.job.sibling is not None:
            message = f"attempt {attempt.job.attempt} ended the job first"
            await delete_duplicates(connection, [attempt.job.id], message=message)


def _group_by_task(attempts: Iterable[EndedAttempt]) -> dict[UUID, list[EndedAttempt]]:
    attempts_by_task: dict[UUID, list[EndedAttempt]] = defaultdict(list)
    for attempt in attempts:
        attempts_by_task[attempt.job.task_uid].append(attempt)
    return attempts_by_task


async def _conclude_task(
    transaction: Transaction, change: "_Change", cached_task: CachedTask, effects: SettlementEffects
) -> None:
    grown = 0
    if cached_task.task.parts_uid is not None:
        parts = [
            TreePart(attempt.job.seq, part)
            for attempt in change.attempts
            if (part := find_part(cached_task.task, attempt.files)) is not None
        ]
        await keep_parts(transaction.connection, cached_task.task.uid, parts)
        above = {get_level(part.seq) + 1 for part in parts}
        grown = await extend_tree(
            transaction.connection, cached_task.task, change.task, levels=above
        )
    effects.jobs += grown
    decided = change.decide_ending(cached_task, grown=grown)
    if decided is not None and await end_task(
        transaction, cached_task, decided, files=change.files
    ):
        effects.task_endings.append(decided)
        return
    for dataset, files in change.files.items():
        send_file_registrations(transaction, cached_task, dataset=dataset, files=files)


@dataclass(slots=True)
class _Change:
    """The changes of one task's row by the ends of attempts."""

    task: LockedTask
    deltas: Counter[JobState]
    failed_attempts: int
    errors: Counter[str]
    registered_counts: Counter[str]
    files: dict[UUID, list[NewFile]]
    last_error: str
    attempts: Sequence[EndedAttempt]

    @classmethod
    def of(cls, task: LockedTask, attempts: Sequence[EndedAttempt]) -> "_Change":
        """Return the changes that the ends of these attempts make."""
        change = cls(
            task,
            Counter(),
            0,
            Counter(task.errors),
            Counter(task.registered),
            defaultdict(list),
            "",
            attempts,
        )
        for attempt in attempts:
            change.deltas[attempt.job.state] -= 1
            change.deltas[attempt.verdict.state] += 1
            change.failed_attempts += (
                attempt.outcome in _UNSUCCESSFUL
                and not attempt.leaves_job_in_flight
                and get_rule(attempt.error).counts_as_failed_attempt
            )
            if attempt.verdict.state is JobState.FAILED:
                change.errors[(attempt.error or ErrorClass.INTERNAL).value] += 1
                change.last_error = _describe_failure(attempt)
            for dataset, file in attempt.files:
                change.files[dataset].append(file)
                change.registered_counts[str(dataset)] += 1
        return change

    @property
    def task_change(self) -> TaskChange:
        """The changes as they are stored."""
        return TaskChange(
            self.task.uid, self.deltas, self.failed_attempts, self.errors, self.registered_counts
        )

    def decide_ending(self, cached_task: CachedTask, *, grown: int) -> TaskEnding | None:
        """Return how the task ends, or None; ``grown`` jobs were made of the attempts' files.

        Only an active task is decided, because before that not all of its jobs exist.
        """
        if self.task.state is not TaskState.ACTIVE:
            return None
        before = self.task.counts
        counts = JobCounts(
            **{state.value: getattr(before, state.value) + self.deltas[state] for state in JobState}
        ).with_ready(grown)
        decided = decide_ending(cached_task.task.boundary, counts)
        if decided is None or not self.last_error or decided.state is TaskState.FINISHED:
            return decided
        return TaskEnding(decided.state, f"{decided.reason}; last: {self.last_error}")


def _describe_failure(attempt: EndedAttempt) -> str:
    names = [file["name"] for file in attempt.job.inputs]
    return format_failure(attempt.job.id, names, error=attempt.error, message=attempt.message)
