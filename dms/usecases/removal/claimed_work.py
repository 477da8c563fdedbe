"""Work on a data set under a claim.

The claim is renewed while the work runs. A storage error postpones the work; a URL that leaves
its storage halts it.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from uuid import uuid4

import structlog

from dms.db.claims import (
    ClaimLost,
    DatasetClaim,
    claim_work,
    release,
    renew,
    retry_later,
    stop_retrying,
)
from dms.domain.errors import NoStorage
from dms.domain.places import OutsideStorages
from dms.usecases.context import DmsContext
from dms.usecases.uploads.find_lost_file import UploadImpossible
from sluice.contracts.common.problems import NotAvailable
from sluice.contracts.common.states import DatasetState
from sluice.scheduling.backoff import pause_after
from sluice.servicekit.database import TRANSIENT_ERRORS, Connection
from sluice.servicekit.running.lifecycle import cancel_and_wait
from sluice.servicekit.running.logging import log_ids
from sluice.servicekit.running.loop import do_nothing
from sluice.storage import OutsideStorage, StorageError
from sluice.text.os_errors import reason_of

log = structlog.get_logger(__name__)

#: The reason that users see.
_UNEXPECTED = "an unexpected error, which is in the log of the DMS; it is tried again"


Work = Callable[[DmsContext, DatasetClaim], Awaitable[None]]
ClaimNext = Callable[[Connection], Awaitable[DatasetClaim | None]]


async def work_on_next(
    context: DmsContext,
    claim_next: ClaimNext,
    work: Work,
    *,
    on_found: Callable[[], None] = do_nothing,
) -> bool:
    """Claim a data set, call ``on_found``, and work on it; return False if no work is due."""
    async with context.database.connection() as connection:
        claim = await claim_next(connection)
    if claim is None:
        return False
    on_found()
    await work_on(context, claim, work)
    return True


def claim_in_state(context: DmsContext, state: DatasetState) -> ClaimNext:
    """Return the function that claims the next data set in this state."""
    return lambda connection: claim_work(
        connection, uuid4(), state=state, seconds=context.claim_seconds
    )


async def work_on(context: DmsContext, claim: DatasetClaim, work: Work) -> None:
    """Do the work on a claimed data set, and release the claim.

    A storage error postpones the next attempt, longer each time and without end. A URL that leaves
    its storage, or an upload that cannot succeed, halts the work until a person resumes it. Each
    such event is logged, and the row keeps the reason. Other exceptions are raised after the work
    was postponed.
    """
    with log_ids(dataset=claim.uid):
        try:
            async with _renewing(context, claim):
                await work(context, claim)
        except ClaimLost:
            log.info("dms.claim_lost", state=claim.state)
        except (OutsideStorage, OutsideStorages) as error:
            log.error("dms.halted", name=claim.name, state=claim.state, reason=str(error))
            async with context.database.connection() as connection:
                await stop_retrying(connection, claim, reason=str(error))
        except UploadImpossible as error:
            log.error("dms.upload_lost", name=claim.name, reason=str(error))
            async with context.database.connection() as connection:
                await stop_retrying(connection, claim, reason=str(error), lost=True)
        except (StorageError, NoStorage) as error:
            await _postpone(context, claim, str(error))
        except Exception:
            # The error may be permanent, and the data set must not keep others waiting.
            with suppress(*TRANSIENT_ERRORS, NotAvailable):
                await _postpone(context, claim, _UNEXPECTED)
            raise
        finally:
            with suppress(*TRANSIENT_ERRORS, NotAvailable):  # the claim then expires
                async with context.database.connection() as connection:
                    await release(connection, claim)


async def _postpone(context: DmsContext, claim: DatasetClaim, reason: str) -> None:
    pause = pause_after(claim.failures + 1, first=1.0, max_pause=context.max_backoff_seconds)
    log.warning(
        "dataset.retry_scheduled",
        name=claim.name,
        state=claim.state,
        failures=claim.failures + 1,
        seconds=pause,
        reason=reason,
    )
    async with context.database.connection() as connection:
        await retry_later(connection, claim, seconds=pause, reason=reason)


@asynccontextmanager
async def _renewing(context: DmsContext, claim: DatasetClaim) -> AsyncIterator[None]:
    task = asyncio.create_task(_renew(context, claim), name=f"renew {claim.name}")
    try:
        yield
    finally:
        await cancel_and_wait(task)


async def _renew(context: DmsContext, claim: DatasetClaim) -> None:
    """Renew the claim until it is lost; the work finds that out at its next change."""
    while True:
        await asyncio.sleep(context.claim_seconds / 3)
        try:
            async with context.database.connection() as connection:
                if not await renew(connection, claim, context.claim_seconds):
                    return
        except (*TRANSIENT_ERRORS, NotAvailable) as error:
            log.warning("dms.claim_not_renewed", name=claim.name, reason=reason_of(error))
