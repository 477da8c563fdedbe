"""Every request that names a data set: is it one that whoever asks sees?"""

from collections.abc import Mapping
from uuid import UUID

from dms.usecases.require_seen import require_seen
from sluice.contracts.owners import Sight
from sluice.servicekit.database import Database

_OF_ONE = "/api/v1/datasets/{uid}"


class DatasetOwners:
    """An ``OwnersGuard``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def require(
        self, sight: Sight, address: str, path: Mapping[str, str], *, changes: bool
    ) -> None:
        """Raises ``UnknownDataset``, ``Forbidden``."""
        if not address.startswith(_OF_ONE):
            return
        try:
            uid = UUID(path["uid"])
        except ValueError:  # the route says what is wrong with it
            return
        await require_seen(self._database, uid, sight, changes=changes)
