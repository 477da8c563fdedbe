"""Takes what people have answered, and what they cannot be asked: their jobs end, as if a pilot had
reported it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from sluice.contracts.asking import AnsweredJob, RefusedJob, TakenAnswer
from sluice.contracts.pilots import AttemptReport
from sluice.contracts.problems import Unprocessable
from sluice.contracts.states import AttemptOutcome, ErrorClass, ReportAnswer
from wms.db.asking import answered, draw_attempts, jobs_of
from wms.db.attempts import EndedAttempt, JobInFlight
from wms.db.status import require_task
from wms.db.task_cache import KnownTask
from wms.db.tasks import ReaderCame, lock_tasks_and_readers
from wms.domain.outputs import InvalidReport, check_report, output_files
from wms.domain.tokens import possible
from wms.usecases.context import WmsContext
from wms.usecases.judge_attempt import AttemptEnding, attempt_verdict
from wms.usecases.look_at_outputs import NO_FAULTS, OutputFaults
from wms.usecases.settle_attempts import settle_attempts

#: Of an answer the attempt that its file is called after.
_FIRST = 1


async def take_answers(
    context: WmsContext,
    uid: UUID,
    answers: Sequence[AnsweredJob],
    refused: Sequence[RefusedJob] = (),
) -> list[TakenAnswer]:
    """Precondition: the task exists; an answer may come twice, or too late.

    Effect: where that is asked for, the files are looked at. Each job that is still asked is
    finished, its file registered (invariant 3), or has failed, where nobody can be asked: its input
    is at fault. The task ends if that decides it. All others change nothing and are answered so.
    Messages: those of ``settle_attempts``. Raises ``NotFound``;
    ``Unprocessable``, with the jobs that are still asked and whose file is not there, or is none of
    theirs: then nothing has changed.
    """
    given = [*map(_report, answers), *map(_refusal, refused)]
    reports = {report.id: report for report in possible(reversed(given))}
    look = context.look_at_outputs
    faults = NO_FAULTS if look is None else await look([*reports.values()])
    while True:
        try:
            taken = await _take(context, uid, reports, faults)
            break
        except ReaderCame:
            continue
    return [TakenAnswer(id=one.id, answer=taken.get(one.id, ReportAnswer.STALE)) for one in given]


async def _take(
    context: WmsContext, uid: UUID, reports: Mapping[int, AttemptReport], faults: OutputFaults
) -> dict[int, ReportAnswer]:
    """Those that are not stale. Raises ``ReaderCame``, and as ``take_answers``."""
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        own = sorted(await jobs_of(connection, uid, list(reports)))
        if not own:
            await require_task(connection, uid)
            return {}
        locked = await lock_tasks_and_readers(connection, own)
        known = await context.tasks.get(connection, locked)
        jobs = await draw_attempts(connection, uid, own)
        ended = _ended(known[uid], [(job, reports[job.id]) for job in jobs.values()], faults)
        settled = await settle_attempts(transaction, locked, known=known, attempts=ended)
        before = await answered(connection, [job for job in own if job not in jobs])
    settled.announce(context)
    return dict.fromkeys(jobs, ReportAnswer.ACCEPTED) | dict.fromkeys(before, ReportAnswer.ALREADY)


def _report(answer: AnsweredJob) -> AttemptReport:
    return AttemptReport(
        id=answer.id,
        attempt=_FIRST,
        outcome=AttemptOutcome.FINISHED,
        started_at=answer.asked_at,
        ended_at=answer.answered_at,
        outputs=[answer.output],
    )


def _refusal(refused: RefusedJob) -> AttemptReport:
    return AttemptReport(
        id=refused.id,
        attempt=_FIRST,
        outcome=AttemptOutcome.FAILED,
        error_class=ErrorClass.TOOL_REFUSED,
        message=refused.reason,
        started_at=refused.asked_at,
        ended_at=refused.asked_at,
    )


def _ended(
    known: KnownTask, jobs: Iterable[tuple[JobInFlight, AttemptReport]], faults: OutputFaults
) -> list[EndedAttempt]:
    """Raises ``Unprocessable``."""
    ended, wrong = [], {}
    for job, report in jobs:
        try:
            ended.append(_end(known, job, report, fault=faults.get((job.id, _FIRST))))
        except InvalidReport as invalid:
            wrong[job.id] = invalid.message
    if not wrong:
        return ended
    first = min(wrong)
    more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
    raise Unprocessable(
        f"the answer to job {first} cannot be taken: {wrong[first]}{more}; none was",
        jobs=",".join(map(str, sorted(wrong))),
    )


def _end(
    known: KnownTask, job: JobInFlight, report: AttemptReport, *, fault: str | None
) -> EndedAttempt:
    """Nothing is learnt of the time it took: no pilot worked. Raises ``InvalidReport``."""
    check_report(known.task, known.outputs, report, seq=job.seq, inputs=job.inputs)
    if fault is not None:
        raise InvalidReport(ErrorClass.STAGE_OUT_FAILED, fault)
    files = output_files(known.task, known.outputs, report, seq=job.seq, inputs=job.inputs)
    end = AttemptEnding(report.outcome, report.error_class)
    return EndedAttempt(
        job=replace(job, leased_at=report.started_at or job.leased_at),
        outcome=report.outcome,
        verdict=attempt_verdict(known, job, end, losses=0),
        reported=report.outcome,
        error=report.error_class,
        message=report.message.replace("\0", ""),
        files=files,
    )
