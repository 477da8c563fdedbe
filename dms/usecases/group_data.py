"""How much data groups have, and may have."""

import structlog

from dms.db.quotas import data_of_groups, quota_of, set_quota
from dms.domain.errors import GroupFull
from sluice.contracts.groups import GroupDataList, SetGroupData
from sluice.contracts.owners import ALL, Sight
from sluice.servicekit.database import Connection, Database

log = structlog.get_logger(__name__)


async def list_group_data(database: Database, sight: Sight = ALL) -> GroupDataList:
    """Effect: none. Errors: none."""
    async with database.connection() as connection:
        return GroupDataList(groups=await data_of_groups(connection, sight))


async def set_group_data(database: Database, group: str, new: SetGroupData) -> None:
    """Precondition: none; the group may have more already: then nothing is added to it by people.
    Repeating it is fine. Effect: it counts from the commit on. Messages: none. Errors: none."""
    async with database.transaction() as transaction:
        await set_quota(transaction.connection, group, new)
    log.info("quota.set", group=group, bytes=new.bytes, files=new.files)


async def require_quota(connection: Connection, group: str, *, size: int, files: int) -> None:
    """``size``: bytes. Raises ``GroupFull`` where so much more of people is too much."""
    quota = await quota_of(connection, group)
    if quota is None:
        return
    if not quota.bytes.leaves(size):
        raise GroupFull(group, "bytes", quota.bytes, more=size)
    if not quota.files.leaves(files):
        raise GroupFull(group, "files", quota.files, more=files)
