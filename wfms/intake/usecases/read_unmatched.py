"""Read unmatched data sets, waiting handovers and ties among templates."""

from uuid import UUID

from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.chains.intake import TieList, UnmatchedList, WaitingHandover
from sluice.servicekit.database import Database
from wfms.intake.db.intake import count_unmatched, list_unmatched, read_handover_reason
from wfms.intake.db.ties import list_ties


async def read_unmatched(
    database: Database, *, limit: int, visibility: Visibility = ALL
) -> UnmatchedList:
    """Return the unmatched data sets, newest first."""
    async with database.connection() as connection:
        return UnmatchedList(
            datasets=await list_unmatched(connection, limit=limit, visibility=visibility),
            total=await count_unmatched(connection, visibility),
        )


async def read_handover(database: Database, dataset: UUID) -> WaitingHandover:
    """Return why the handover of a data set waits."""
    async with database.connection() as connection:
        return WaitingHandover(reason=await read_handover_reason(connection, dataset))


async def read_ties(database: Database, *, limit: int, visibility: Visibility = ALL) -> TieList:
    """Return the ties, the latest first."""
    async with database.connection() as connection:
        return TieList(ties=await list_ties(connection, limit=limit, visibility=visibility))
