"""Handle a pilot's report on attempts that have ended."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sluice.contracts.common.states import AttemptOutcome, ErrorClass, ReportAnswer
from sluice.contracts.pilots.pilots import AnsweredReport, AttemptReport
from sluice.servicekit.database import Connection
from wms.db.jobs.attempts import (
    EndedAttempt,
    JobInFlight,
    jobs_ended,
    jobs_in_flight,
    outcomes_reported,
)
from wms.db.pilots.pilots import active_nodes, is_stopping, node_of_pilot, see_pilot
from wms.db.tasks.task_cache import KnownTask
from wms.db.tasks.tasks import DownstreamTaskAppeared, LockedTask, lock_tasks_and_readers
from wms.domain.outputs import InvalidReport, check_report, log_file, output_files
from wms.domain.retry_rules import RetryDecision
from wms.domain.scheduling.matching import PilotNode, largest_gpu, largest_gpu_part, largest_ram
from wms.domain.splitting.tree_merge import level_of, placed
from wms.domain.tokens import possible
from wms.usecases.context import WmsContext
from wms.usecases.limits.give_back_quota import give_back_quota
from wms.usecases.limits.note_room import full_storage, note_room
from wms.usecases.reports.check_outputs import OutputFaults, check_outputs
from wms.usecases.reports.decide_retry import AttemptFacts, LargestNode, attempt_verdict
from wms.usecases.reports.settle_attempts import settle_attempts

#: Outcomes of attempts that never started, if a report has no start time.
_UNSTARTED = frozenset({AttemptOutcome.RETURNED, AttemptOutcome.CANCELED})


async def report_attempts(
    context: WmsContext, pilot: UUID, reports: Sequence[AttemptReport]
) -> list[AnsweredReport]:
    """Apply reports on attempts; a report may be late, repeated, or of a pilot without the job.

    If configured, outputs are checked first, and a report with a missing output counts as failed.
    For each attempt that this pilot still has, the job moves by the retry rules. Its files are
    registered if it is the winning attempt (invariant 3), its log in any case. The task ends if
    that decides it. Other reports change nothing, and the answers say so. It sends the messages of
    ``settle_attempts``.

    Raises:
        NotFound: The pilot has not registered.
    """
    faults = await check_outputs(context.output_check, reports)
    while True:
        try:
            return await _report(context, pilot, reports, faults)
        except DownstreamTaskAppeared:
            continue


async def _report(
    context: WmsContext, pilot: UUID, reports: Sequence[AttemptReport], faults: OutputFaults
) -> list[AnsweredReport]:
    """Apply the reports in one transaction.

    Raises:
        DownstreamTaskAppeared: A downstream task appeared meanwhile; repeat the call.
    """
    first = _first_of_each(possible(reports))
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        locked = await lock_tasks_and_readers(connection, [job_id for job_id, _ in first])
        flying = await jobs_in_flight(connection, [job_id for job_id, _ in first])
        known = await context.tasks.get(connection, locked)
        mine = {
            key: job
            for key in first
            if (flight := flying.get(key[0])) and (job := flight.at(key[1], pilot))
        }
        circumstances = _ReportContext(
            context.terms.losses,
            await _nodes(connection, pilot, first.values()),
            stopping=any(job.stopping for job in mine.values())
            and await is_stopping(connection, pilot),
        )
        ended = [
            _ended(
                known[job.task_uid],
                job,
                first[key],
                locked=locked[job.task_uid],
                around=circumstances,
                fault=faults.get(key),
            )
            for key, job in mine.items()
        ]
        if not ended:
            await see_pilot(connection, pilot)
        settled = await settle_attempts(
            transaction, locked, known=known, attempts=ended, pilot=pilot
        )
        if await note_room(context, connection, ended, first, known=known):
            settled.delays.add(0.0)
        before = await outcomes_reported(connection, list(first.keys() - mine.keys()), pilot=pilot)
        over = await jobs_ended(connection, [key[0] for key in first if first[key].checkpoint])
        if await give_back_quota(connection, ended, known):
            settled.delays.add(0.0)
    settled.announce(context)
    answers = [_answer(report, mine=mine, before=before, over=over) for report in reports]
    context.metrics.stale.inc(sum(answer.answer is ReportAnswer.STALE for answer in answers))
    return answers


@dataclass(frozen=True, slots=True)
class _ReportContext:
    """What the verdicts on all attempts of a report depend on.

    Attributes:
        losses: Number of nodes lost in a row that quarantines a job.
        nodes: None unless an attempt ran out of memory.
        stopping: The pilot was told to return its jobs.
    """

    losses: int
    nodes: "_Nodes | None"
    stopping: bool = False


@dataclass(frozen=True, slots=True)
class _Nodes:
    """The node of the pilot that reports, and the nodes of active pilots."""

    own: PilotNode
    active: Sequence[PilotNode]


async def _nodes(
    connection: Connection, pilot: UUID, reports: Iterable[AttemptReport]
) -> _Nodes | None:
    if not any(report.error_class is ErrorClass.OUT_OF_MEMORY for report in reports):
        return None
    return _Nodes(await node_of_pilot(connection, pilot), await active_nodes(connection))


def _first_of_each(reports: Iterable[AttemptReport]) -> dict[tuple[int, int], AttemptReport]:
    """Return one report per attempt, in case a pilot reports one twice in a call."""
    first: dict[tuple[int, int], AttemptReport] = {}
    for report in reports:
        first.setdefault((report.id, report.attempt), report)
    return first


def _answer(
    report: AttemptReport,
    *,
    mine: Mapping[tuple[int, int], JobInFlight],
    before: Mapping[tuple[int, int], AttemptOutcome],
    over: Collection[int],
) -> AnsweredReport:
    """Return the answer to a report; ``over`` are the ended jobs of those that ask for it."""
    key = (report.id, report.attempt)
    # A pilot that came back may have lost its copy of the accepted report and report the attempt as
    # lost. The answer tells it to leave the files alone.
    found_none = report.error_class is ErrorClass.PILOT_LOST and key in before
    if key in mine:
        answer = ReportAnswer.ACCEPTED
    elif found_none or before.get(key) is report.outcome:
        answer = ReportAnswer.ALREADY
    else:
        answer = ReportAnswer.STALE
    ended = report.checkpoint and report.id in over
    return AnsweredReport(id=report.id, attempt=report.attempt, answer=answer, ended=ended)


def _ended(
    known: KnownTask,
    job: JobInFlight,
    report: AttemptReport,
    *,
    locked: LockedTask,
    around: _ReportContext,
    fault: str | None,
) -> EndedAttempt:
    """Return the end of the attempt; ``fault`` is a fault of one of its outputs."""
    outcome, error, message, log_url = report.outcome, report.error_class, report.message, None
    files = []
    try:
        check_report(known.task, known.outputs, report, seq=job.seq, inputs=job.inputs)
        files = log_file(known.task, report, seq=job.seq)
        log_url = None if report.log is None else report.log.url
        if fault is not None:
            raise InvalidReport(ErrorClass.STAGE_OUT_FAILED, fault)
        if outcome is AttemptOutcome.FINISHED:
            written = output_files(
                known.task,
                known.outputs,
                report,
                seq=job.seq,
                inputs=job.inputs,
                merged_before=known.task.parts_uid is not None and level_of(job.seq) > 0,
            )
            files += placed(known.task, written, seq=job.seq, only_seq=locked.only_seq)
    except InvalidReport as invalid:
        outcome, error, message = AttemptOutcome.FAILED, invalid.error, invalid.message
        if invalid.error is not ErrorClass.INTERNAL:
            files = log_file(known.task, report, seq=job.seq)
            log_url = None if report.log is None else report.log.url
    if outcome is AttemptOutcome.CANCELED and job.stopping is not None:
        outcome, message = AttemptOutcome.LOST, job.stopping
        if around.stopping:
            outcome, message = AttemptOutcome.RETURNED, f"handed back: {job.stopping}"
    outcome, error = _normalised(outcome, error)
    verdict = _verdict(known, job, report, ended=(outcome, error), around=around)
    return EndedAttempt(
        job=job,
        outcome=outcome,
        verdict=verdict,
        reported=report.outcome,
        error=error,
        message="; ".join(filter(None, (message, verdict.note))).replace("\0", ""),
        exit_code=_storable(report.exit_code),
        peak_memory=report.peak_memory,
        cpu_seconds=report.cpu_seconds,
        log_url=log_url,
        duration=_duration(job, report),
        files=files,
        spent=_spent(known, report),
    )


def _duration(job: JobInFlight, report: AttemptReport) -> float | None:
    """Return the seconds that the attempt ran; the pilot's clock may have been set meanwhile."""
    if report.started_at is None:
        return None
    seconds = (report.ended_at - report.started_at).total_seconds()
    return max(0.0, min(seconds, job.since_lease))


def _spent(known: KnownTask, report: AttemptReport) -> Mapping[str, float]:
    """Return what the attempt spent of its reservation; nothing if the tool never started."""
    unstarted = report.started_at is None and report.outcome in _UNSTARTED
    return dict.fromkeys(known.task.needs.named, 0.0) if unstarted else report.spent


def _verdict(
    known: KnownTask,
    job: JobInFlight,
    report: AttemptReport,
    *,
    ended: tuple[AttemptOutcome, ErrorClass | None],
    around: _ReportContext,
) -> RetryDecision:
    """Return the verdict on the job for this outcome and error class."""
    peak, full_gpu, largest = report.peak_memory, report.gpu_memory or None, LargestNode()
    if (nodes := around.nodes) is not None:
        needs = known.task.needs
        # A pilot's figures are limited to what its own node has.
        peak = None if peak is None else min(peak, nodes.own.resources.ram)
        if full_gpu is not None and needs.gpus is not None:
            part = largest_gpu_part(needs.gpus.with_memory(job.gpu_memory), nodes.own)
            full_gpu = int(min(full_gpu, part))
        largest = LargestNode(
            largest_ram(needs, nodes.active),
            None if full_gpu is None else largest_gpu(needs, nodes.active),
        )
    end = AttemptFacts(
        *ended,
        report.exit_code,
        peak,
        full_gpu,
        waits_for_storage=full_storage(known.task, report) is not None,
    )
    return attempt_verdict(known, job, end, losses=around.losses, largest=largest)


def _storable(exit_code: int | None) -> int | None:
    return None if exit_code is None else max(-(2**31), min(exit_code, 2**31 - 1))


def _normalised(
    outcome: AttemptOutcome, error: ErrorClass | None
) -> tuple[AttemptOutcome, ErrorClass | None]:
    """Return a consistent outcome and error class, whatever the pilot left out."""
    match outcome:
        case AttemptOutcome.FINISHED | AttemptOutcome.RETURNED:
            return outcome, None
        case AttemptOutcome.CANCELED:
            return outcome, ErrorClass.CANCELED
        case AttemptOutcome.LOST:
            return outcome, ErrorClass.PILOT_LOST
        case AttemptOutcome.FAILED:
            return outcome, error or ErrorClass.INTERNAL
