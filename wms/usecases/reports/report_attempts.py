"""Handle a pilot's report on attempts that have ended."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sluice.contracts.common.states import AttemptOutcome, ErrorClass, ReportAnswer
from sluice.contracts.pilots.reports import AnsweredReport, AttemptReport
from sluice.servicekit.database import Connection
from wms.db.jobs.attempts import (
    EndedAttempt,
    JobInFlight,
    list_ended_jobs,
    list_jobs_in_flight,
    list_reported_outcomes,
)
from wms.db.pilots.pilots import get_pilot_node, is_stopping, list_active_nodes, see_pilot
from wms.db.tasks.task_cache import CachedTask
from wms.db.tasks.tasks import DownstreamTaskAppeared, LockedTask, lock_tasks_and_downstream
from wms.domain.outputs import InvalidReport, build_log_file, build_output_files, check_report
from wms.domain.retry_rules import RetryDecision
from wms.domain.scheduling.matching import (
    PilotNode,
    find_largest_gpu,
    find_largest_gpu_part,
    find_largest_ram,
)
from wms.domain.splitting.tree_merge import get_level, place_files
from wms.domain.tokens import filter_valid_tokens
from wms.usecases.context import WmsContext
from wms.usecases.limits.record_storage_waits import find_full_storage, record_storage_waits
from wms.usecases.limits.release_quota import release_quota
from wms.usecases.reports.check_outputs import OutputFaults, check_outputs
from wms.usecases.reports.decide_verdict import AttemptFacts, LargestNode, decide_verdict
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
            return await _apply_reports(context, pilot, reports, faults)
        except DownstreamTaskAppeared:
            continue


async def _apply_reports(
    context: WmsContext, pilot: UUID, reports: Sequence[AttemptReport], faults: OutputFaults
) -> list[AnsweredReport]:
    """Apply the reports in one transaction.

    Raises:
        DownstreamTaskAppeared: A downstream task appeared meanwhile; repeat the call.
    """
    first = _drop_repeated(filter_valid_tokens(reports))
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        locked = await lock_tasks_and_downstream(connection, [job_id for job_id, _ in first])
        in_flight = await list_jobs_in_flight(connection, [job_id for job_id, _ in first])
        cached_tasks = await context.tasks.get(connection, locked)
        own_jobs = {
            key: job
            for key in first
            if (flight := in_flight.get(key[0])) and (job := flight.at(key[1], pilot))
        }
        report_context = _ReportContext(
            context.rules.max_node_losses,
            await _get_nodes(connection, pilot, first.values()),
            stopping=any(job.stopping for job in own_jobs.values())
            and await is_stopping(connection, pilot),
        )
        ended = [
            _build_ended_attempt(
                cached_tasks[job.task_uid],
                job,
                first[key],
                locked_task=locked[job.task_uid],
                report_context=report_context,
                fault=faults.get(key),
            )
            for key, job in own_jobs.items()
        ]
        if not ended:
            await see_pilot(connection, pilot)
        effects = await settle_attempts(
            transaction, locked, cached_tasks=cached_tasks, attempts=ended, pilot=pilot
        )
        if await record_storage_waits(context, connection, ended, first, cached_tasks=cached_tasks):
            effects.delays.add(0.0)
        earlier_outcomes = await list_reported_outcomes(
            connection, list(first.keys() - own_jobs.keys()), pilot=pilot
        )
        ended_jobs = await list_ended_jobs(
            connection, [key[0] for key in first if first[key].checkpoint]
        )
        if await release_quota(connection, ended, cached_tasks):
            effects.delays.add(0.0)
    effects.announce(context)
    answers = [
        _build_answer(
            report, own_jobs=own_jobs, earlier_outcomes=earlier_outcomes, ended_jobs=ended_jobs
        )
        for report in reports
    ]
    context.metrics.stale.inc(sum(answer.answer is ReportAnswer.STALE for answer in answers))
    return answers


@dataclass(frozen=True, slots=True)
class _ReportContext:
    """The common facts for the verdicts on all attempts of a report.

    Attributes:
        max_node_losses: Number of nodes lost in a row that quarantines a job.
        nodes: None unless an attempt ran out of memory.
        stopping: The pilot was told to return its jobs.
    """

    max_node_losses: int
    nodes: "_Nodes | None"
    stopping: bool = False


@dataclass(frozen=True, slots=True)
class _Nodes:
    """The node of the pilot that reports, and the nodes of active pilots."""

    own_node: PilotNode
    active: Sequence[PilotNode]


async def _get_nodes(
    connection: Connection, pilot: UUID, reports: Iterable[AttemptReport]
) -> _Nodes | None:
    if not any(report.error_class is ErrorClass.OUT_OF_MEMORY for report in reports):
        return None
    return _Nodes(await get_pilot_node(connection, pilot), await list_active_nodes(connection))


def _drop_repeated(reports: Iterable[AttemptReport]) -> dict[tuple[int, int], AttemptReport]:
    """Return one report per attempt, in case a pilot reports one twice in a call."""
    first: dict[tuple[int, int], AttemptReport] = {}
    for report in reports:
        first.setdefault((report.id, report.attempt), report)
    return first


def _build_answer(
    report: AttemptReport,
    *,
    own_jobs: Mapping[tuple[int, int], JobInFlight],
    earlier_outcomes: Mapping[tuple[int, int], AttemptOutcome],
    ended_jobs: Collection[int],
) -> AnsweredReport:
    """Return the answer to a report; ``ended_jobs`` are the ended jobs of those that ask for it."""
    key = (report.id, report.attempt)
    # A pilot that came back may have lost its copy of the accepted report and report the attempt as
    # lost. The answer tells it to leave the files alone.
    is_known_loss = report.error_class is ErrorClass.PILOT_LOST and key in earlier_outcomes
    if key in own_jobs:
        answer = ReportAnswer.ACCEPTED
    elif is_known_loss or earlier_outcomes.get(key) is report.outcome:
        answer = ReportAnswer.ALREADY
    else:
        answer = ReportAnswer.STALE
    ended = report.checkpoint and report.id in ended_jobs
    return AnsweredReport(id=report.id, attempt=report.attempt, answer=answer, ended=ended)


def _build_ended_attempt(
    cached_task: CachedTask,
    job: JobInFlight,
    report: AttemptReport,
    *,
    locked_task: LockedTask,
    report_context: _ReportContext,
    fault: str | None,
) -> EndedAttempt:
    """Return the end of the attempt; ``fault`` is a fault of one of its outputs."""
    outcome, error, message, log_url = report.outcome, report.error_class, report.message, None
    files = []
    try:
        check_report(cached_task.task, cached_task.outputs, report, seq=job.seq, inputs=job.inputs)
        files = build_log_file(cached_task.task, report, seq=job.seq)
        log_url = None if report.log is None else report.log.url
        if fault is not None:
            raise InvalidReport(ErrorClass.STAGE_OUT_FAILED, fault)
        if outcome is AttemptOutcome.FINISHED:
            new_files = build_output_files(
                cached_task.task,
                cached_task.outputs,
                report,
                seq=job.seq,
                inputs=job.inputs,
                merged_before=cached_task.task.parts_uid is not None and get_level(job.seq) > 0,
            )
            files += place_files(
                cached_task.task, new_files, seq=job.seq, only_seq=locked_task.only_seq
            )
    except InvalidReport as invalid:
        outcome, error, message = AttemptOutcome.FAILED, invalid.error, invalid.message
        if invalid.error is not ErrorClass.INTERNAL:
            files = build_log_file(cached_task.task, report, seq=job.seq)
            log_url = None if report.log is None else report.log.url
    if outcome is AttemptOutcome.CANCELED and job.stopping is not None:
        outcome, message = AttemptOutcome.LOST, job.stopping
        if report_context.stopping:
            outcome, message = AttemptOutcome.RETURNED, f"handed back: {job.stopping}"
    outcome, error = _normalise(outcome, error)
    verdict = _decide_verdict(
        cached_task, job, report, ended_with=(outcome, error), report_context=report_context
    )
    return EndedAttempt(
        job=job,
        outcome=outcome,
        verdict=verdict,
        reported=report.outcome,
        error=error,
        message="; ".join(filter(None, (message, verdict.note))).replace("\0", ""),
        exit_code=_clamp_exit_code(report.exit_code),
        peak_memory=report.peak_memory,
        cpu_seconds=report.cpu_seconds,
        log_url=log_url,
        duration=_compute_duration(job, report),
        files=files,
        spent_amounts=_get_spent(cached_task, report),
    )


def _compute_duration(job: JobInFlight, report: AttemptReport) -> float | None:
    """Return the seconds that the attempt ran; the pilot's clock may have been set meanwhile."""
    if report.started_at is None:
        return None
    seconds = (report.ended_at - report.started_at).total_seconds()
    return max(0.0, min(seconds, job.since_lease))


def _get_spent(cached_task: CachedTask, report: AttemptReport) -> Mapping[str, float]:
    """Return what the attempt spent of its reservation; nothing if the tool never started."""
    unstarted = report.started_at is None and report.outcome in _UNSTARTED
    return dict.fromkeys(cached_task.task.needs.named, 0.0) if unstarted else report.spent


def _decide_verdict(
    cached_task: CachedTask,
    job: JobInFlight,
    report: AttemptReport,
    *,
    ended_with: tuple[AttemptOutcome, ErrorClass | None],
    report_context: _ReportContext,
) -> RetryDecision:
    """Return the verdict on the job for this outcome and error class."""
    peak, full_gpu, largest_node = report.peak_memory, report.gpu_memory or None, LargestNode()
    if (nodes := report_context.nodes) is not None:
        needs = cached_task.task.needs
        # A pilot's figures are limited to what its own node has.
        peak = None if peak is None else min(peak, nodes.own_node.resources.ram)
        if full_gpu is not None and needs.gpus is not None:
            part = find_largest_gpu_part(needs.gpus.with_memory(job.gpu_memory), nodes.own_node)
            full_gpu = int(min(full_gpu, part))
        largest_node = LargestNode(
            find_largest_ram(needs, nodes.active),
            None if full_gpu is None else find_largest_gpu(needs, nodes.active),
        )
    end = AttemptFacts(
        *ended_with,
        report.exit_code,
        peak,
        full_gpu,
        waits_for_storage=find_full_storage(cached_task.task, report) is not None,
    )
    return decide_verdict(
        cached_task,
        job,
        end,
        max_node_losses=report_context.max_node_losses,
        largest_node=largest_node,
    )


def _clamp_exit_code(exit_code: int | None) -> int | None:
    return None if exit_code is None else max(-(2**31), min(exit_code, 2**31 - 1))


def _normalise(
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
