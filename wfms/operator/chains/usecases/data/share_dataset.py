"""Sharing of data sets with groups."""

from uuid import UUID

from sluice.contracts.access.owners import Share
from sluice.contracts.data.datasets import Dataset
from wfms.operator.context import OperatorContext
from wfms.operator.identity.usecases.known_groups import require_known_groups


async def share_dataset(context: OperatorContext, uid: UUID, request: Share) -> Dataset:
    """Share a data set with groups that have members.

    Raises:
        UnknownGroup: A group has no members.
    """
    async with context.database.connection() as connection:
        await require_known_groups(connection, request.shared_with)
    return await context.dms.share_dataset(uid, request)
