"""Sharing a data set with other groups."""

from uuid import UUID

import structlog

from dms.db.owners import share
from dms.domain.errors import UnknownDataset
from sluice.contracts.datasets import Dataset
from sluice.contracts.owners import Share
from sluice.servicekit.access.ownership import require_member
from sluice.servicekit.access.principal import Person
from sluice.servicekit.database import Database

log = structlog.get_logger(__name__)


async def share_dataset(
    database: Database, uid: UUID, request: Share, *, by: Person | None
) -> Dataset:
    """Precondition: ``by`` is of the data set's group. Effect: these groups see it from now on, and
    no others beside its own. Messages: none. Raises ``UnknownDataset``; ``Forbidden`` where it is
    to be given to a group that he is not in."""
    if by is not None and request.group is not None:
        require_member(by, request.group)
    async with database.transaction() as transaction:
        shared = await share(transaction.connection, uid, request.shared_with, group=request.group)
    if shared is None:
        raise UnknownDataset(uid)
    log.info(
        "dataset.shared", dataset=str(uid), group=shared.group, shared_with=shared.shared_with,
        by=str(by),
    )  # fmt: skip
    return shared
