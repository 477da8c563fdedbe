"""Loop that sends reports: at once under low load, in batches while jobs are short."""

import asyncio
import contextlib
import time

import structlog

from pilot.backoff import Backoff
from pilot.reports.outbox import Outbox
from pilot.runtime import PilotRuntime
from pilot.wms_session import FORGOTTEN, WmsSession
from sluice.contracts.common.problems import ServiceError, Unprocessable
from sluice.contracts.pilots.reports import AttemptReport, Report

log = structlog.get_logger(__name__)


#: Minimum seconds between the starts of two requests.
_SPACING = 0.02
#: Minimum while every slot has a next job. The reports are not urgent then, and the cost of a
#: request hardly depends on their number.
_BUSY_SPACING = 0.2


async def send_reports(runtime: PilotRuntime, outbox: Outbox, session: WmsSession) -> None:
    """Send the reports of the outbox until the task is canceled."""
    backoff = Backoff()
    last = 0.0
    while True:
        await outbox.waiting.wait()
        await asyncio.sleep(max(0.0, last + _SPACING - time.monotonic()))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, last + _BUSY_SPACING - time.monotonic())):
                await runtime.needs_jobs.wait()
        last = time.monotonic()
        batch, registration = outbox.next_batch(), session.registration_count
        try:
            await send_batch(batch, outbox, session)
            backoff.reset()
        except FORGOTTEN:
            await session.register_again(registration)
        except ServiceError as error:
            log.warning(
                "report.failed", reason=error.detail, reports=len(batch), attempt=backoff.count + 1
            )
            await backoff.wait()


async def send_batch(batch: list[AttemptReport], outbox: Outbox, session: WmsSession) -> None:
    """Send a batch of reports.

    An invalid report must not block the others: it is found by splitting the batch in halves.
    """
    try:
        answers = await session.client.report(session.pilot.uid, Report(reports=batch))
    except Unprocessable as error:
        if len(batch) == 1:
            outbox.drop_refused(batch[0], error.detail)
            return
        middle = len(batch) // 2
        await send_batch(batch[:middle], outbox, session)
        await send_batch(batch[middle:], outbox, session)
        return
    await outbox.process_answers(batch, answers)
