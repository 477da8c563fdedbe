"""Check that a principal sees a data set."""

from uuid import UUID

from dms.db.owners import find_ownership
from dms.domain.errors import UnknownDataset
from sluice.contracts.access.owners import Visibility
from sluice.contracts.common.problems import Forbidden
from sluice.servicekit.database import Database
from sluice.text.visible_text import quoted


async def require_present(
    database: Database, uid: UUID, visibility: Visibility, *, changes: bool
) -> None:
    """Check that the principal sees a data set; ``changes``: may also change it.

    Raises:
        UnknownDataset: The data set does not exist, or is not visible.
        Forbidden: The data set is only shared for reading.
    """
    async with database.connection() as connection:
        owned = await find_ownership(connection, uid)
    if owned is None or not visibility.sees(owned.group, owned.shared_with):
        raise UnknownDataset(uid)
    if changes and not visibility.is_member(owned.group):
        raise Forbidden(
            f"data set {quoted(owned.name)} belongs to the group {owned.group}, which shares it for"
            " reading only",
            dataset=uid,
        )
