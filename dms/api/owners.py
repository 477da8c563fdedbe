"""The check that the principal sees the data set that a request names."""

from collections.abc import Mapping
from uuid import UUID

from dms.usecases.datasets.require_present import require_present
from sluice.contracts.access.owners import Visibility
from sluice.servicekit.database import Database

_OF_ONE = "/api/v1/datasets/{uid}"


class DatasetOwners:
    """The ``OwnersGuard`` of data sets."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def require(
        self, visibility: Visibility, address: str, path: Mapping[str, str], *, changes: bool
    ) -> None:
        """Check a request whose path names a data set.

        Raises:
            UnknownDataset: The data set does not exist, or is not visible.
            Forbidden: The request changes a data set that is only shared for reading.
        """
        if not address.startswith(_OF_ONE):
            return
        try:
            uid = UUID(path["uid"])
        except ValueError:  # the route reports the error
            return
        await require_present(self._database, uid, visibility, changes=changes)
