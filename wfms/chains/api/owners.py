"""The check that a principal sees the chain or task that a request names."""

from collections.abc import Mapping
from uuid import UUID

from sluice.contracts.access.owners import Visibility
from sluice.servicekit.database import Database
from wfms.chains.db.owners import find_chain_group, find_task_group
from wfms.chains.usecases.chains.get_chain import UnknownChain
from wfms.chains.usecases.steps.known_tasks import NoSuchTask

_OF_CHAIN, _OF_TASK = "/api/v1/chains/{uid}", "/api/v1/tasks/{uid}"


class ChainOwners:
    """An ``OwnersGuard`` for chains and tasks. The DMS checks data sets itself."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def require(
        self, visibility: Visibility, address: str, path: Mapping[str, str], *, changes: bool
    ) -> None:
        """Require that the principal sees the chain or task of the request.

        Raises:
            UnknownChain: The chain does not exist or is not visible.
            NoSuchTask: The task does not exist or is not visible.
        """
        if not address.startswith((_OF_CHAIN, _OF_TASK)):
            return
        try:
            uid = UUID(path["uid"])
        except ValueError:  # the route reports the invalid uid
            return
        of_chain = address.startswith(_OF_CHAIN)
        async with self._database.connection() as connection:
            group = await (find_chain_group if of_chain else find_task_group)(connection, uid)
        if group is None or not visibility.is_member(group):
            raise UnknownChain(uid) if of_chain else NoSuchTask(uid)
