"""Groups, as all services know them: members, shares of the nodes, quotas."""

import asyncio
from collections.abc import Iterable

import structlog

from sluice.contracts.groups import (
    Group,
    GroupList,
    SetGroup,
    SetGroupChains,
    SetGroupData,
    SetShare,
)
from sluice.contracts.people import Account
from sluice.contracts.problems import Unprocessable
from sluice.servicekit.access.behalf import sight_now
from sluice.servicekit.audit.request import tell
from wfms.operator.db.people import all_people
from wfms.operator.usecases.context import OperatorContext

log = structlog.get_logger(__name__)


async def read_groups(context: OperatorContext) -> GroupList:
    """Those that somebody is in, and that have anything, as far as whoever asks is in them. Effect:
    none. Raises ``NotAvailable``."""
    async with context.database.connection() as connection:
        people = await all_people(connection)
    shares, data, chains = await asyncio.gather(
        context.wms.shares(), context.dms.group_data(), context.chains.group_chains()
    )
    members, sight = _members(people), sight_now()
    share_of = {share.group: share for share in shares.shares}
    data_of = {each.group: each for each in data.groups}
    chains_of = {each.group: each for each in chains.groups}
    names = {*members, *share_of, *data_of, *chains_of}
    found = []
    for name in sorted(name for name in names if sight.is_member(name)):
        group = Group(name=name, members=members.get(name, []))
        if (share := share_of.get(name)) is not None:
            told = {"weight": share.weight, "running": share.running, "waiting": share.waiting}
            group = group.model_copy(update=told)
        if (has := data_of.get(name)) is not None:
            group = group.model_copy(update={"bytes": has.bytes, "files": has.files})
        if (under_way := chains_of.get(name)) is not None:
            group = group.model_copy(update={"chains": under_way.chains})
        found.append(group)
    return GroupList(groups=found)


async def set_group(context: OperatorContext, name: str, new: SetGroup) -> Group:
    """Precondition: none; repeating it is fine. Effect: the services that go by them have the new
    weight and quotas, each its own; where one does not answer the others may have them already.
    Messages: none. Raises ``Unprocessable`` where nothing is to change, ``NotAvailable``."""
    if new == SetGroup():
        raise Unprocessable("nothing is changed: give weight, chains, bytes or files")
    said = new.model_dump(exclude_none=True)
    tell(**said)
    if new.weight is not None:
        await context.wms.set_share(name, SetShare(weight=new.weight))
    if new.chains is not None:
        await context.chains.set_group_chains(name, SetGroupChains(chains=_most(new.chains)))
    data = SetGroupData(bytes=new.bytes, files=new.files)
    if data != SetGroupData():
        await context.dms.set_group_data(name, data)
    log.info("group.set", group=name, **said)
    return await _group(context, name)


def _most(said: int | str) -> int | None:
    return None if isinstance(said, str) else said


async def _group(context: OperatorContext, name: str) -> Group:
    known = {group.name: group for group in (await read_groups(context)).groups}
    return known.get(name, Group(name=name))


def _members(people: Iterable[Account]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for person in people:
        for group in person.groups if person.disabled_at is None else ():
            found.setdefault(group, []).append(person.name)
    return found
