"""How a loop works on a data set: under a claim that is renewed, resting when a storage fails,
halting where a URL leaves it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import structlog

from dms.db.claims import Claim, ClaimLost, halt, release, renew, rest
from dms.domain.facts import NoStorage
from dms.domain.places import OutsideStorages
from dms.usecases.file_work import FileWork
from dms.usecases.watch_storages import StorageWatch
from sluice.backoff import pause_after
from sluice.contracts.problems import NotAvailable
from sluice.servicekit.database import PASSING, Database
from sluice.servicekit.lifecycle import cancel_and_wait
from sluice.servicekit.logging import log_ids
from sluice.storage import OutsideStorage, StorageError

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Workshop:
    """What work on data sets needs. Times in seconds, as in the settings."""

    database: Database
    files: FileWork
    watch: StorageWatch
    claim_seconds: float
    max_backoff_seconds: float
    sweep_again_seconds: float


Work = Callable[[Workshop, Claim], Awaitable[None]]


async def work_on(shop: Workshop, claim: Claim, work: Work) -> None:
    """Effect: the work's; the claim is given back. A storage that fails has the data set rest,
    longer each time, for ever; a URL that leaves its storage halts it until a person asks for it
    again. Both are logged, and the reason is kept in the row.

    Raises what else goes wrong, after a rest was noted.
    """
    with log_ids(dataset=claim.uid):
        try:
            async with _renewing(shop, claim):
                await work(shop, claim)
        except ClaimLost:
            log.info("dms.claim_lost", state=claim.state)
        except (OutsideStorage, OutsideStorages) as error:
            log.error("dms.halted", name=claim.name, state=claim.state, reason=str(error))
            async with shop.database.connection() as connection:
                await halt(connection, claim, reason=str(error))
        except (StorageError, NoStorage) as error:
            await _rest(shop, claim, str(error))
        except Exception as error:
            # Not known to pass: it must not keep the other data sets waiting either.
            with suppress(*PASSING, NotAvailable):
                await _rest(shop, claim, f"{type(error).__name__}: {error}")
            raise
        finally:
            with suppress(*PASSING, NotAvailable):  # then it ends by itself
                async with shop.database.connection() as connection:
                    await release(connection, claim)


async def _rest(shop: Workshop, claim: Claim, reason: str) -> None:
    pause = pause_after(claim.failures + 1, first=1.0, longest=shop.max_backoff_seconds)
    log.warning(
        "dms.rests",
        name=claim.name,
        state=claim.state,
        failures=claim.failures + 1,
        seconds=pause,
        reason=reason,
    )
    async with shop.database.connection() as connection:
        await rest(connection, claim, seconds=pause, reason=reason)


@asynccontextmanager
async def _renewing(shop: Workshop, claim: Claim) -> AsyncIterator[None]:
    task = asyncio.create_task(_renew(shop, claim), name=f"renew {claim.name}")
    try:
        yield
    finally:
        await cancel_and_wait(task)


async def _renew(shop: Workshop, claim: Claim) -> None:
    """Until the claim is lost, which the work finds out with its next change."""
    while True:
        await asyncio.sleep(shop.claim_seconds / 3)
        try:
            async with shop.database.connection() as connection:
                if not await renew(connection, claim, shop.claim_seconds):
                    return
        except (*PASSING, NotAvailable) as error:
            log.warning("dms.claim_not_renewed", name=claim.name, reason=str(error))
