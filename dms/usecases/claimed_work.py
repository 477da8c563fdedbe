"""How a loop works on a data set: under a claim that is renewed, resting when a storage fails,
halting where a URL leaves it.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import structlog

from dms.db.claims import ClaimLost, DatasetClaim, halt, release, renew, rest
from dms.domain.errors import NoStorage
from dms.domain.places import OutsideStorages
from dms.usecases.context import DmsContext
from dms.usecases.find_lost_file import UploadLost
from sluice.backoff import pause_after
from sluice.contracts.problems import NotAvailable
from sluice.servicekit.database import PASSING
from sluice.servicekit.lifecycle import cancel_and_wait
from sluice.servicekit.logging import log_ids
from sluice.storage import OutsideStorage, StorageError

log = structlog.get_logger(__name__)


Work = Callable[[DmsContext, DatasetClaim], Awaitable[None]]


async def work_on(context: DmsContext, claim: DatasetClaim, work: Work) -> None:
    """Effect: the work's; the claim is given back. A storage that fails has the data set rest,
    longer each time, for ever; a URL that leaves its storage, or an upload that cannot succeed,
    halts it until a person asks for it again. All are logged, and the reason is kept in the row.

    Raises what else goes wrong, after a rest was noted.
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
                await halt(connection, claim, reason=str(error))
        except UploadLost as error:
            log.error("dms.upload_lost", name=claim.name, reason=str(error))
            async with context.database.connection() as connection:
                await halt(connection, claim, reason=str(error), lost=True)
        except (StorageError, NoStorage) as error:
            await _rest(context, claim, str(error))
        except Exception as error:
            # Not known to pass: it must not keep the other data sets waiting either.
            with suppress(*PASSING, NotAvailable):
                await _rest(context, claim, f"{type(error).__name__}: {error}")
            raise
        finally:
            with suppress(*PASSING, NotAvailable):  # then it ends by itself
                async with context.database.connection() as connection:
                    await release(connection, claim)


async def _rest(context: DmsContext, claim: DatasetClaim, reason: str) -> None:
    pause = pause_after(claim.failures + 1, first=1.0, longest=context.max_backoff_seconds)
    log.warning(
        "dms.rests",
        name=claim.name,
        state=claim.state,
        failures=claim.failures + 1,
        seconds=pause,
        reason=reason,
    )
    async with context.database.connection() as connection:
        await rest(connection, claim, seconds=pause, reason=reason)


@asynccontextmanager
async def _renewing(context: DmsContext, claim: DatasetClaim) -> AsyncIterator[None]:
    task = asyncio.create_task(_renew(context, claim), name=f"renew {claim.name}")
    try:
        yield
    finally:
        await cancel_and_wait(task)


async def _renew(context: DmsContext, claim: DatasetClaim) -> None:
    """Until the claim is lost, which the work finds out with its next change."""
    while True:
        await asyncio.sleep(context.claim_seconds / 3)
        try:
            async with context.database.connection() as connection:
                if not await renew(connection, claim, context.claim_seconds):
                    return
        except (*PASSING, NotAvailable) as error:
            log.warning("dms.claim_not_renewed", name=claim.name, reason=str(error))
