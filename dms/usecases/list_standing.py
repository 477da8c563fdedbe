"""Lists data sets that grow."""

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
    """Those that are seen, and not deleted; ``uid``: this one alone. ``generations``: with these.
    Effect: none.
    """
    async with database.connection() as connection:
        return StandingList(
            standing=await select_standing(connection, sight, uid=uid, generations=generations)
        )
