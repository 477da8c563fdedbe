"""What the operator service is asked about times: how long work waits and takes."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sluice.clients.base import API, ServiceClient
from sluice.contracts.times import Timeline, WorkTimes


class TimesCalls(ServiceClient):
    """As figures, and as pictures (SVG)."""

    async def times(
        self,
        chains: Sequence[UUID] = (),
        *,
        template: str | None = None,
        since: datetime | None = None,
    ) -> WorkTimes:
        """Of chains; without any, of what began since then (by default in the last day)."""
        params = _params(chains, template, since)
        return await self.call("GET", f"{API}/times", answer=WorkTimes, params=params)

    async def times_picture(
        self,
        chains: Sequence[UUID] = (),
        *,
        template: str | None = None,
        since: datetime | None = None,
    ) -> bytes:
        return await self._picture(f"{API}/times.svg", _params(chains, template, since))

    async def timeline(self, chain: UUID) -> Timeline:
        """Raises ``NotFound``, also where it has no task yet."""
        return await self.call("GET", f"{API}/chains/{chain}/timeline", answer=Timeline)

    async def timeline_picture(self, chain: UUID) -> bytes:
        """Raises ``NotFound``, also where it has no task yet."""
        return await self._picture(f"{API}/chains/{chain}/timeline.svg", {})

    async def _picture(self, path: str, params: dict[str, Any]) -> bytes:
        request = self._http.build_request("GET", path, params=params)
        return (await self._send(request)).content


def _params(chains: Sequence[UUID], template: str | None, since: datetime | None) -> dict[str, Any]:
    given = {
        "chain_uid": [str(chain) for chain in chains] or None,
        "template": template,
        "since": None if since is None else since.isoformat(),
    }
    return {name: value for name, value in given.items() if value is not None}
