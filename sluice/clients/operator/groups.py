"""What the operator service is asked about groups."""

from urllib.parse import quote

from sluice.clients.base import API, ServiceClient
from sluice.contracts.groups import Group, GroupList, SetGroup


class GroupCalls(ServiceClient):
    async def groups(self) -> GroupList:
        """Those that who asks is in."""
        return await self.call("GET", f"{API}/groups", answer=GroupList)

    async def set_group(self, name: str, new: SetGroup) -> Group:
        """What ``new`` does not name stays."""
        path = f"{API}/groups/{quote(name, safe='')}"
        return await self.call("PATCH", path, body=new, answer=Group)
