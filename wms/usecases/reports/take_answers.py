"""Apply the answers of people: their jobs end as if a pilot had reported them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.common.states import AttemptOutcome, ErrorClass, ReportAnswer
from sluice.contracts.human_tasks.asking import AcceptedAnswer, AnsweredJob, RefusedJob
from sluice.contracts.pilots.pilots import AttemptReport
from wms.db.jobs.attempts import EndedAttempt, JobInFlight
from wms.db.jobs.human_tasks import answered, draw_attempts, jobs_of
from wms.db.tasks.status import require_task
from wms.db.tasks.task_cache import KnownTask
from wms.db.tasks.tasks import DownstreamTaskAppeared, lock_tasks_and_readers
from wms.domain.outputs import InvalidReport, check_report, output_files
from wms.domain.tokens import possible
from wms.usecases.context import WmsContext
from wms.usecases.reports.check_outputs import OutputFaults, check_outputs
from wms.usecases.reports.decide_retry import AttemptFacts, attempt_verdict
from wms.usecases.reports.settle_attempts import settle_attempts

#: The attempt number in the name of an answer's file.
_FIRST = 1


async def take_answers(
    context: WmsContext,
    uid: UUID,
    answers: Sequence[AnsweredJob],
    refused: Sequence[RefusedJob] = (),
) -> list[AcceptedAnswer]:
    """Apply answers of people, and refusals of items that nobody can be asked about.

    If configured, the files are checked first. Each job that still waits for an answer is finished
    and its file registered (invariant 3), or fails if it was refused. The task ends if that decides
    it. Repeated or late answers change nothing, and the result says so. It sends the messages of
    ``settle_attempts``.

    Raises:
        NotFound: There is no such task.
        Unprocessable: Files of open jobs are missing or not theirs; nothing has changed.
    """
    given = [*map(_report, answers), *map(_refusal, refused)]
    reports = {report.id: report for report in possible(reversed(given))}
    faults = await check_outputs(context.output_check, [*reports.values()])
    while True:
        try:
            taken = await _take(context, uid, reports, faults)
            break
        except DownstreamTaskAppeared:
            continue
    return [
        AcceptedAnswer(id=one.id, answer=taken.get(one.id, ReportAnswer.STALE)) for one in given
    ]


async def _take(
    context: WmsContext, uid: UUID, reports: Mapping[int, AttemptReport], faults: OutputFaults
) -> dict[int, ReportAnswer]:
    """Apply the answers in one transaction and return the answers that are not stale.

    Raises:
        DownstreamTaskAppeared: A downstream task appeared meanwhile; repeat the call.
        NotFound: There is no such task.
        Unprocessable: Files of open jobs are missing or not theirs.
    """
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
    """Return the ends of the attempts.

    Raises:
        Unprocessable: Files of the answers are missing or not theirs.
    """
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
    """Return the end of an attempt by people; no statistics are kept, because no pilot worked.

    Raises:
        InvalidReport: The file is missing or not the job's.
    """
    check_report(known.task, known.outputs, report, seq=job.seq, inputs=job.inputs)
    if fault is not None:
        raise InvalidReport(ErrorClass.STAGE_OUT_FAILED, fault)
    files = output_files(known.task, known.outputs, report, seq=job.seq, inputs=job.inputs)
    end = AttemptFacts(report.outcome, report.error_class)
    return EndedAttempt(
        job=replace(job, leased_at=report.started_at or job.leased_at),
        outcome=report.outcome,
        verdict=attempt_verdict(known, job, end, losses=0),
        reported=report.outcome,
        error=report.error_class,
        message=report.message.replace("\0", ""),
        files=files,
    )
