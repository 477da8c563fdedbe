"""Apply the answers of people: their jobs end as if a pilot had reported them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.common.states import AttemptOutcome, ErrorClass, ReportAnswer
from sluice.contracts.human_tasks.annotation import AcceptedAnswer, AnsweredJob, RefusedJob
from sluice.contracts.pilots.reports import AttemptReport
from wms.db.jobs.attempts import EndedAttempt, JobInFlight
from wms.db.jobs.human_tasks import draw_attempts, list_answered_jobs, list_job_ids
from wms.db.tasks.status import require_task
from wms.db.tasks.task_cache import CachedTask
from wms.db.tasks.tasks import DownstreamTaskAppeared, lock_tasks_and_downstream
from wms.domain.outputs import InvalidReport, build_output_files, check_report
from wms.domain.tokens import filter_valid_tokens
from wms.usecases.context import WmsContext
from wms.usecases.reports.check_outputs import OutputFaults, check_outputs
from wms.usecases.reports.decide_verdict import AttemptFacts, decide_verdict
from wms.usecases.reports.settle_attempts import settle_attempts

#: The attempt number in the name of an answer's file.
_FIRST = 1


async def accept_answers(
    context: WmsContext,
    uid: UUID,
    answers: Sequence[AnsweredJob],
    refusals: Sequence[RefusedJob] = (),
) -> list[AcceptedAnswer]:
    """Apply answers of people, and refusals of items that cannot be shown.

    If configured, the files are checked first. Each job that still waits for an answer is finished
    and its file registered (invariant 3), or fails if it was refused. The task ends if that decides
    it. Repeated or late answers change nothing, and the result says so. It sends the messages of
    ``settle_attempts``.

    Raises:
        NotFound: There is no such task.
        Unprocessable: Files of open jobs are missing or not theirs; nothing has changed.
    """
    all_reports = [*map(_build_report, answers), *map(_build_refusal_report, refusals)]
    reports = {report.id: report for report in filter_valid_tokens(reversed(all_reports))}
    faults = await check_outputs(context.output_check, [*reports.values()])
    while True:
        try:
            answers_by_job = await _apply_answers(context, uid, reports, faults)
            break
        except DownstreamTaskAppeared:
            continue
    return [
        AcceptedAnswer(id=report.id, answer=answers_by_job.get(report.id, ReportAnswer.STALE))
        for report in all_reports
    ]


async def _apply_answers(
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
        own = sorted(await list_job_ids(connection, uid, list(reports)))
        if not own:
            await require_task(connection, uid)
            return {}
        locked = await lock_tasks_and_downstream(connection, own)
        cached_tasks = await context.tasks.get(connection, locked)
        jobs = await draw_attempts(connection, uid, own)
        ended = _build_ended_attempts(
            cached_tasks[uid], [(job, reports[job.id]) for job in jobs.values()], faults
        )
        effects = await settle_attempts(
            transaction, locked, cached_tasks=cached_tasks, attempts=ended
        )
        before = await list_answered_jobs(connection, [job for job in own if job not in jobs])
    effects.announce(context)
    return dict.fromkeys(jobs, ReportAnswer.ACCEPTED) | dict.fromkeys(before, ReportAnswer.ALREADY)


def _build_report(answer: AnsweredJob) -> AttemptReport:
    return AttemptReport(
        id=answer.id,
        attempt=_FIRST,
        outcome=AttemptOutcome.FINISHED,
        started_at=answer.asked_at,
        ended_at=answer.answered_at,
        outputs=[answer.output],
    )


def _build_refusal_report(refusal: RefusedJob) -> AttemptReport:
    return AttemptReport(
        id=refusal.id,
        attempt=_FIRST,
        outcome=AttemptOutcome.FAILED,
        error_class=ErrorClass.TOOL_REFUSED,
        message=refusal.reason,
        started_at=refusal.asked_at,
        ended_at=refusal.asked_at,
    )


def _build_ended_attempts(
    cached_task: CachedTask, jobs: Iterable[tuple[JobInFlight, AttemptReport]], faults: OutputFaults
) -> list[EndedAttempt]:
    """Return the ends of the attempts.

    Raises:
        Unprocessable: Files of the answers are missing or not theirs.
    """
    ended, messages = [], {}
    for job, report in jobs:
        try:
            ended.append(
                _build_ended_attempt(cached_task, job, report, fault=faults.get((job.id, _FIRST)))
            )
        except InvalidReport as invalid:
            messages[job.id] = invalid.message
    if not messages:
        return ended
    first = min(messages)
    more = f" (and {len(messages) - 1} more)" if len(messages) > 1 else ""
    raise Unprocessable(
        f"the answer to job {first} cannot be accepted: {messages[first]}{more}; no answer was"
        " accepted",
        jobs=",".join(map(str, sorted(messages))),
    )


def _build_ended_attempt(
    cached_task: CachedTask, job: JobInFlight, report: AttemptReport, *, fault: str | None
) -> EndedAttempt:
    """Return the end of an attempt by people; no statistics are kept, because no pilot worked.

    Raises:
        InvalidReport: The file is missing or not the job's.
    """
    check_report(cached_task.task, cached_task.outputs, report, seq=job.seq, inputs=job.inputs)
    if fault is not None:
        raise InvalidReport(ErrorClass.STAGE_OUT_FAILED, fault)
    files = build_output_files(
        cached_task.task, cached_task.outputs, report, seq=job.seq, inputs=job.inputs
    )
    end = AttemptFacts(report.outcome, report.error_class)
    return EndedAttempt(
        job=replace(job, leased_at=report.started_at or job.leased_at),
        outcome=report.outcome,
        verdict=decide_verdict(cached_task, job, end, max_node_losses=0),
        reported=report.outcome,
        error=report.error_class,
        message=report.message.replace("\0", ""),
        files=files,
    )
