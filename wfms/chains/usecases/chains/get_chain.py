"""Return a chain."""

from uuid import UUID

from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.problems import NotFound
from sluice.servicekit.database import Database
from wfms.chains.db.reading import ChainQuery, list_chain_page


class UnknownChain(NotFound):
    """There is no such chain."""

    def __init__(self, uid: UUID) -> None:
        super().__init__(f"there is no chain {uid}", uid=uid)


async def get_chain(database: Database, uid: UUID) -> Chain:
    """Return a chain.

    Raises:
        UnknownChain: There is no such chain.
    """
    async with database.connection() as connection:
        chains, _ = await list_chain_page(connection, ChainQuery(uids=[uid]))
    if not chains:
        raise UnknownChain(uid)
    return chains[0]
