"""List append-only data sets."""

from uuid import UUID

from dms.db.append_only import list_append_only as select_append_only
from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.data.append_only_list import AppendOnlyList
from sluice.servicekit.database import Database


async def list_append_only(
    database: Database,
    visibility: Visibility = ALL,
    *,
    uid: UUID | None = None,
    generations: bool = False,
) -> AppendOnlyList:
    """Return the open append-only data sets that ``visibility`` includes.

    ``uid`` selects one of them. ``generations`` includes their generations.
    """
    async with database.connection() as connection:
        return AppendOnlyList(
            datasets=await select_append_only(
                connection, visibility, uid=uid, generations=generations
            )
        )
