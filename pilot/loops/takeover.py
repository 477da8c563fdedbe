"""Takeover of files, unsent reports and leases that earlier runs of this pilot left."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime

import structlog

from pilot.backoff import Backoff
from pilot.domain.model import Token
from pilot.domain.reports import build_lost_pilot_report
from pilot.folders.run_folder import RunFolder
from pilot.isolation.node.memory_groups import remove_groups
from pilot.reports.file_remover import FileRemover, list_files
from pilot.reports.journal import Trace, read_journals
from pilot.wms_session import WmsSession
from sluice.contracts.common.problems import NotFound, ServiceError
from sluice.contracts.common.states import ReportAnswer
from sluice.contracts.pilots.leases import JobToken
from sluice.contracts.pilots.registration import SignOff
from sluice.contracts.pilots.reports import AnsweredReport, AttemptReport, Report, ReportAnswers

log = structlog.get_logger(__name__)

_MAX_PER_CALL = 256


async def take_over(runs: list[RunFolder], session: WmsSession, remover: FileRemover) -> None:
    """Send the reports and give back the leases of each earlier run, then remove its files.

    Files on storages are removed if no accepted report names them. The caller holds the lock on the
    pilot's folder, so no process of those runs is alive.
    """
    files_to_remove: list[tuple[RunFolder, list[str]]] = []
    answered_runs: list[tuple[list[AttemptReport], ReportAnswers]] = []
    for run in runs:
        traces = await asyncio.to_thread(read_journals, run.journals)
        reports = [
            trace.report or build_lost_pilot_report(*token, datetime.now(UTC))
            for token, trace in traces.items()
        ]
        log.info("takeover.begun", run=str(run.uid), reports=len(reports))
        answers = await _send(reports, run, session)
        files_to_remove.append((run, _list_unreported_files(traces, answers)))
        answered_runs.append((reports, ReportAnswers(answers=list(answers.values()))))
    for reports, run_answers in answered_runs:
        await remover.remove_checkpoints(reports, run_answers)
    for run, urls in files_to_remove:
        backoff = Backoff(max_pause=10.0)
        while not await remover.remove(urls):
            await backoff.wait()
        await asyncio.to_thread(_delete, run)


def _list_unreported_files(
    traces: Mapping[Token, Trace], answers: Mapping[Token, AnsweredReport]
) -> list[str]:
    """Return the files of attempts whose reports were late or never accepted.

    If a report was accepted but is missing here, because the disk was full, its files belong to the
    catalogue.
    """
    urls: list[str] = []
    for token, trace in traces.items():
        answered = answers.get(token)
        answer = ReportAnswer.STALE if answered is None else answered.answer
        if trace.report is None:
            urls += [] if answer is ReportAnswer.ALREADY else trace.urls
        elif answer is ReportAnswer.STALE:
            urls += list_files([trace.report])
    return urls


def _delete(run: RunFolder) -> None:
    if group := run.read_memory_group():
        remove_groups(group)
    run.delete()


async def _send(
    reports: list[AttemptReport], run: RunFolder, session: WmsSession
) -> dict[Token, AnsweredReport]:
    """Send the reports of a run, and retry until the WMS answers."""
    backoff = Backoff(max_pause=10.0)
    while True:
        try:
            return await _send_all(reports, run, session)
        except ServiceError as error:
            log.warning(
                "takeover.failed", run=str(run.uid), reason=error.detail, attempt=backoff.count + 1
            )
            await backoff.wait()


def _list_unstarted_jobs(run: RunFolder, reports: list[AttemptReport]) -> list[JobToken]:
    """Return the jobs that the run had and never started.

    The list may name jobs that were reported long ago: the WMS ignores them.
    """
    reported = {(report.id, report.attempt) for report in reports}
    return [
        JobToken(id=token[0], attempt=token[1])
        for token in run.read_tokens()
        if token not in reported
    ]


async def _send_all(
    reports: list[AttemptReport], run: RunFolder, session: WmsSession
) -> dict[Token, AnsweredReport]:
    """Send the reports of a run and sign it off.

    The call can be repeated: the WMS answers "already" to a known report.

    Returns:
        The answers by token, empty if the WMS does not know the run.
    """
    answered: dict[Token, AnsweredReport] = {}
    try:
        async with session.act_as(run.uid) as client:
            for begin in range(0, len(reports), _MAX_PER_CALL):
                batch = Report(reports=reports[begin : begin + _MAX_PER_CALL])
                answers = (await client.report(run.uid, batch)).answers
                answered |= {(answer.id, answer.attempt): answer for answer in answers}
            await client.sign_off(run.uid, SignOff(returned=_list_unstarted_jobs(run, reports)))
    except NotFound:
        log.warning(
            "takeover.forgotten",
            run=str(run.uid),
            note="the WMS knows nothing of that run; its files are removed",
        )
        return {}
    return answered
