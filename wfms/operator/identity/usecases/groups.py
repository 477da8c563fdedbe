"""Groups as all services know them: members, fair shares and quotas."""

import asyncio
from collections.abc import Iterable

import structlog

from sluice.contracts.access.groups import Group, GroupList, SetGroup, SetShare
from sluice.contracts.access.people import Account
from sluice.contracts.access.quotas import HolderKind, QuotaHolder
from sluice.contracts.common.problems import Unprocessable
from sluice.servicekit.access.delegation import current_visibility
from sluice.servicekit.audit.request import tell
from wfms.operator.context import OperatorContext
from wfms.operator.identity.db.people import all_people
from wfms.operator.identity.usecases.quotas import read_holdings, set_quotas

log = structlog.get_logger(__name__)


async def read_groups(context: OperatorContext) -> GroupList:
    """Return the visible groups that have members, a share or quotas.

    Raises:
        NotAvailable: Another service does not answer.
    """
    async with context.database.connection() as connection:
        people = await all_people(connection)
    shares, holdings = await asyncio.gather(
        context.wms.shares(), read_holdings(context, HolderKind.GROUP)
    )
    members, visibility = _members(people), current_visibility()
    share_of = {share.group: share for share in shares.shares}
    names = {*members, *share_of, *holdings}
    found = []
    for name in sorted(name for name in names if visibility.is_member(name)):
        has = {str(quantity): quota for quantity, quota in holdings.get(name, {}).items()}
        group = Group(name=name, members=members.get(name, []), **has)
        if (share := share_of.get(name)) is not None:
            told = {"weight": share.weight, "running": share.running}
            group = group.model_copy(update=told)
        found.append(group)
    return GroupList(groups=found)


async def set_group(context: OperatorContext, name: str, new: SetGroup) -> Group:
    """Set the weight and the quotas of a group in the services that enforce them.

    If a service does not answer, other services may already have the new values.

    Raises:
        Unprocessable: The request changes nothing.
        NotAvailable: Another service does not answer.
    """
    if new == SetGroup():
        raise Unprocessable("nothing is changed: give weight, chains, bytes, files or waiting")
    said = new.model_dump(exclude_none=True)
    tell(**said)
    if new.weight is not None:
        await context.wms.set_share(name, SetShare(weight=new.weight))
    await set_quotas(context, QuotaHolder(HolderKind.GROUP, name), new)
    log.info("group.set", group=name, **said)
    return await _group(context, name)


async def _group(context: OperatorContext, name: str) -> Group:
    known = {group.name: group for group in (await read_groups(context)).groups}
    return known.get(name, Group(name=name))


def _members(people: Iterable[Account]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for person in people:
        for group in person.groups if person.disabled_at is None else ():
            found.setdefault(group, []).append(person.name)
    return found
