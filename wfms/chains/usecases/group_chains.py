"""How many chains groups may have at a time."""

import structlog

from sluice.contracts.groups import GroupChainsList, Quota, SetGroupChains
from sluice.contracts.owners import ALL, Sight
from sluice.contracts.problems import Conflict, NotAvailable
from sluice.servicekit.database import Connection, Database
from wfms.chains.db.quotas import chains_of_groups, quota_of, set_quota

log = structlog.get_logger(__name__)


def _sentence(group: str, quota: Quota) -> str:
    return f"the group {group} may have {quota.most} chains at a time, and has {quota.used}"


class GroupBusy(Conflict):
    """A person asks for one more."""

    def __init__(self, group: str, quota: Quota) -> None:
        super().__init__(
            f"{_sentence(group, quota)}: wait for the end of one, or cancel it", group=group
        )


class GroupBusyNow(NotAvailable):
    """One that begins by itself: it waits."""

    def __init__(self, group: str, quota: Quota) -> None:
        super().__init__(f"{_sentence(group, quota)}: it begins when one has ended", group=group)


async def list_group_chains(database: Database, sight: Sight = ALL) -> GroupChainsList:
    """Effect: none. Errors: none."""
    async with database.connection() as connection:
        return GroupChainsList(groups=await chains_of_groups(connection, sight))


async def set_group_chains(database: Database, group: str, new: SetGroupChains) -> None:
    """Precondition: none; chains that run go on. Repeating it is fine. Effect: it counts from the
    commit on. Messages: none. Errors: none."""
    async with database.transaction() as transaction:
        await set_quota(transaction.connection, group, new.chains)
    log.info("quota.set", group=group, chains=new.chains)


async def require_quota(connection: Connection, group: str, *, by_person: bool) -> None:
    """Raises ``GroupBusy``, ``GroupBusyNow``."""
    quota = await quota_of(connection, group)
    if quota is not None and not quota.leaves(1):
        raise GroupBusy(group, quota) if by_person else GroupBusyNow(group, quota)
