"""What earlier starts of a pilot of this name left behind: their files, their unsent reports, their leases."""

import asyncio
from datetime import UTC, datetime

import structlog

from pilot.domain.reports import lost_with_pilot
from pilot.folders import RunFolder
from pilot.outbox import Outbox, remove_files
from pilot.pauses import Pauses
from pilot.session import Session
from pilot.spool import Spool
from sluice.contracts.pilots import AttemptReport, Report, SignOff
from sluice.contracts.problems import NotFound, ServiceError

log = structlog.get_logger(__name__)

_MOST_A_CALL = 256


async def take_over(runs: list[RunFolder], session: Session) -> None:
    """For each earlier run: files that nobody reports are removed, reports sent in its name, its leases given back.

    The caller holds the pilot's folder, so no process of those runs is alive.
    """
    for run in runs:
        reports = await asyncio.to_thread(_collect, run)
        log.info("takeover.begun", run=str(run.uid), reports=len(reports))
        pauses = Pauses(longest=10.0)
        while True:
            try:
                await _send_all(reports, run, session)
                break
            except ServiceError as error:
                log.warning("takeover.failed", run=str(run.uid), reason=error.detail, attempt=pauses.count + 1)
                await pauses.wait()
        await asyncio.to_thread(run.delete)


def _collect(run: RunFolder) -> list[AttemptReport]:
    """The run's reports, those of attempts that it was killed in included."""
    spool = Spool(run.spool)
    lost = [token for token in run.unfinished() if not run.clear_job(token)]
    for token in lost:
        spool.write(lost_with_pilot(*token, datetime.now(UTC)))
    return [report for token in spool.tokens() if (report := spool.read(token)) is not None]


async def _send_all(reports: list[AttemptReport], run: RunFolder, session: Session) -> None:
    try:
        for begin in range(0, len(reports), _MOST_A_CALL):
            batch = reports[begin : begin + _MOST_A_CALL]
            answers = await session.client.report(run.uid, Report(reports=batch))
            await Outbox(Spool(run.spool)).answered(batch, answers)
        await session.client.sign_off(run.uid, SignOff())
    except NotFound:  # the WMS has forgotten that run: nobody waits for its reports, nobody knows its files
        for report in reports:
            await asyncio.to_thread(remove_files, report)
