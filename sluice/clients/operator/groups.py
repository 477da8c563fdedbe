"""Calls to the operator service about groups."""

from urllib.parse import quote

from sluice.clients.base import API, ServiceClient
from sluice.contracts.groups import Group, GroupList, SetGroup


class GroupCalls(ServiceClient):
    """Calls about groups."""

    async def groups(self) -> GroupList:
        """Return the groups of the caller."""
        return await self.call("GET", f"{API}/groups", answer=GroupList)

    async def set_group(self, name: str, new: SetGroup) -> Group:
        """Change a group. Fields that ``new`` omits keep their values."""
        path = f"{API}/groups/{quote(name, safe='')}"
        return await self.call("PATCH", path, body=new, answer=Group)
