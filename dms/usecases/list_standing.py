"""List append-only data sets."""

from uuid import UUID

from dms.db.standing import list_standing as select_standing
from sluice.contracts.owners import ALL, Sight
from sluice.contracts.standing_list import StandingList
from sluice.servicekit.database import Database


async def list_standing(
    database: Database,
    sight: Sight = ALL,
    *,
    uid: UUID | None = None,
    generations: bool = False,
) -> StandingList:
    """Return the open append-only data sets that ``sight`` includes.

    ``uid`` selects one of them. ``generations`` includes their generations.
    """
    async with database.connection() as connection:
        return StandingList(
            standing=await select_standing(connection, sight, uid=uid, generations=generations)
        )
