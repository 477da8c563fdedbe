"""Calls to the operator service about waiting and running times."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sluice.clients.base import API, ServiceClient
from sluice.contracts.jobs.times import Timeline, WorkTimes


class TimesCalls(ServiceClient):
    """Calls that return times as figures and as pictures (SVG)."""

    async def get_times(
        self,
        chains: Sequence[UUID] = (),
        *,
        template: str | None = None,
        since: datetime | None = None,
    ) -> WorkTimes:
        """Return the times of chains, or of work that began since a time (default: one day ago)."""
        params = _params(chains, template, since)
        return await self.call("GET", f"{API}/times", answer=WorkTimes, params=params)

    async def get_times_picture(
        self,
        chains: Sequence[UUID] = (),
        *,
        template: str | None = None,
        since: datetime | None = None,
    ) -> bytes:
        """Return the picture of the times as in ``get_times``."""
        return await self._picture(f"{API}/times.svg", _params(chains, template, since))

    async def get_timeline(self, chain: UUID) -> Timeline:
        """Return the timeline of a chain.

        Raises:
            NotFound: There is no such chain, or it has no task yet.
        """
        return await self.call("GET", f"{API}/chains/{chain}/timeline", answer=Timeline)

    async def get_timeline_picture(self, chain: UUID) -> bytes:
        """Return the picture of the timeline of a chain.

        Raises:
            NotFound: There is no such chain, or it has no task yet.
        """
        return await self._picture(f"{API}/chains/{chain}/timeline.svg", {})

    async def _picture(self, path: str, params: dict[str, Any]) -> bytes:
        request = self._http.build_request("GET", path, params=params)
        return (await self._send(request)).content


def _params(chains: Sequence[UUID], template: str | None, since: datetime | None) -> dict[str, Any]:
    params = {
        "chain_uid": [str(chain) for chain in chains] or None,
        "template": template,
        "since": None if since is None else since.isoformat(),
    }
    return {name: value for name, value in params.items() if value is not None}
