"""Calls to the operator service about groups."""

from sluice.clients.base import API, ServiceClient, build_path
from sluice.contracts.access.groups import Group, GroupList, SetGroup


class GroupCalls(ServiceClient):
    """Calls about groups."""

    async def list_groups(self) -> GroupList:
        """Return the groups of the caller."""
        return await self.call("GET", f"{API}/groups", answer=GroupList)

    async def set_group(self, name: str, new: SetGroup) -> Group:
        """Change a group. Fields that ``new`` omits keep their values."""
        path = build_path("groups", name)
        return await self.call("PATCH", path, body=new, answer=Group)
