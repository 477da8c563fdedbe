"""What services are asked about what groups and people have of what they count."""

from urllib.parse import quote

from sluice.clients.base import API, ServiceClient
from sluice.contracts.quotas import HolderKind, Holdings, QuotaHolder, SetMost


class QuotaCalls(ServiceClient):
    async def holdings(self, kind: HolderKind, name: str | None = None) -> Holdings:
        """Of who has anything, or a quota; ``name``: of one."""
        path, params = f"{API}/quotas/{kind}", {"name": name}
        return await self.call("GET", path, params=params, answer=Holdings)

    async def set_most(self, holder: QuotaHolder, new: SetMost) -> None:
        """Repeating it is fine. Raises ``Unprocessable`` for what the service does not count."""
        path = f"{API}/quotas/{holder.kind}/{quote(holder.name, safe='')}"
        await self.call("PUT", path, body=new)
