"""Groups as all services know them: members, fair shares and quotas."""

import asyncio
from collections.abc import Iterable

import structlog

from sluice.contracts.access.groups import Group, GroupList, SetGroup, SetShare
from sluice.contracts.access.people import Account
from sluice.contracts.access.quotas import HolderKind, QuotaHolder
from sluice.contracts.common.problems import Unprocessable
from sluice.servicekit.access.delegation import current_visibility
from sluice.servicekit.audit.request import add_audit_facts
from wfms.operator.context import OperatorContext
from wfms.operator.identity.db.people import list_people
from wfms.operator.identity.usecases.quotas import read_holdings, set_quotas

log = structlog.get_logger(__name__)


async def read_groups(context: OperatorContext) -> GroupList:
    """Return the visible groups that have members, a share or quotas.

    Raises:
        NotAvailable: Another service does not answer.
    """
    async with context.database.connection() as connection:
        people = await list_people(connection)
    shares, holdings = await asyncio.gather(
        context.wms.list_shares(), read_holdings(context, HolderKind.GROUP)
    )
    members, visibility = _list_members(people), current_visibility()
    shares_by_group = {share.group: share for share in shares.shares}
    names = {*members, *shares_by_group, *holdings}
    groups = []
    for name in sorted(name for name in names if visibility.is_member(name)):
        has = {str(quantity): quota for quantity, quota in holdings.get(name, {}).items()}
        group = Group(name=name, members=members.get(name, []), **has)
        if (share := shares_by_group.get(name)) is not None:
            share_fields = {"weight": share.weight, "running": share.running}
            group = group.model_copy(update=share_fields)
        groups.append(group)
    return GroupList(groups=groups)


async def set_group(context: OperatorContext, name: str, new: SetGroup) -> Group:
    """Set the weight and the quotas of a group in the services that enforce them.

    If a service does not answer, other services may already have the new values.

    Raises:
        Unprocessable: The request changes nothing.
        NotAvailable: Another service does not answer.
    """
    if new == SetGroup():
        raise Unprocessable("nothing was changed: give weight, chains, bytes, files or waiting")
    changes = new.model_dump(exclude_none=True)
    add_audit_facts(**changes)
    if new.weight is not None:
        await context.wms.set_share(name, SetShare(weight=new.weight))
    await set_quotas(context, QuotaHolder(HolderKind.GROUP, name), new)
    log.info("group.set", group=name, **changes)
    return await _read_group(context, name)


async def _read_group(context: OperatorContext, name: str) -> Group:
    groups = {group.name: group for group in (await read_groups(context)).groups}
    return groups.get(name, Group(name=name))


def _list_members(people: Iterable[Account]) -> dict[str, list[str]]:
    members: dict[str, list[str]] = {}
    for person in people:
        for group in person.groups if person.disabled_at is None else ():
            members.setdefault(group, []).append(person.name)
    return members
