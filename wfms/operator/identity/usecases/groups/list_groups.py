"""List groups with their members, share and quotas."""

import asyncio
from collections.abc import Iterable

from sluice.contracts.access.groups import Group, GroupList
from sluice.contracts.access.people import Account
from sluice.contracts.access.quotas import HolderKind
from sluice.servicekit.access.delegation import current_visibility
from wfms.operator.context import OperatorContext
from wfms.operator.identity.db.people import list_people
from wfms.operator.identity.usecases.quotas.list_holdings import list_holdings


async def list_groups(context: OperatorContext) -> GroupList:
    """Return the visible groups that have members, a share or quotas.

    Raises:
        NotAvailable: Another service does not answer.
    """
    async with context.database.connection() as connection:
        people = await list_people(connection)
    shares, holdings = await asyncio.gather(
        context.wms.list_shares(), list_holdings(context, HolderKind.GROUP)
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


def _list_members(people: Iterable[Account]) -> dict[str, list[str]]:
    members: dict[str, list[str]] = {}
    for person in people:
        for group in person.groups if person.disabled_at is None else ():
            members.setdefault(group, []).append(person.name)
    return members
