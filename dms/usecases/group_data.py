"""How much data groups have, and may have."""

from collections.abc import Sequence

import structlog

from dms.db.quotas import data_of_groups, quota_of, set_quota
from dms.domain.differences import SentFile
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
        await set_quota(transaction.connection, group, size=new.bytes, files=new.files)
    log.info("quota.set", group=group, bytes=new.bytes, files=new.files)


async def require_quota(connection: Connection, group: str, files: Sequence[SentFile]) -> None:
    """Raises ``GroupFull`` where these files of people are too much."""
    quota = await quota_of(connection, group)
    if quota is None:
        return
    size = sum(file.size for file in files)
    if not quota.bytes.leaves(size):
        raise GroupFull(group, "bytes", quota.bytes, more=size)
    if not quota.files.leaves(len(files)):
        raise GroupFull(group, "files", quota.files, more=len(files))
