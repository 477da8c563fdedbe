"""Calls about quotas of groups and people."""

from urllib.parse import quote

from sluice.clients.base import API, ServiceClient
from sluice.contracts.access.quotas import HolderKind, Holdings, QuotaHolder, SetQuotaLimits


class QuotaCalls(ServiceClient):
    """Calls about quotas of groups and people."""

    async def list_holdings(self, kind: HolderKind, name: str | None = None) -> Holdings:
        """Return usage and quotas of all holders, or of one."""
        path, params = f"{API}/quotas/{kind}", {"name": name}
        return await self.call("GET", path, params=params, answer=Holdings)

    async def set_quota_limits(self, holder: QuotaHolder, new: SetQuotaLimits) -> None:
        """Set quotas of a holder. Repeating the call is safe.

        Raises:
            Unprocessable: The service does not count a quantity.
        """
        path = f"{API}/quotas/{holder.kind}/{quote(holder.name, safe='')}"
        await self.call("PUT", path, body=new)
