"""Calls about pilots, steps, limits and sites that the WMS and the operator service have."""

from uuid import UUID

from sluice.clients.base import API, ServiceClient, build_path
from sluice.contracts.chains.attention import Acknowledge
from sluice.contracts.jobs.limits import LimitList, SetLimit
from sluice.contracts.jobs.steps import StepList
from sluice.contracts.jobs.warm_workers import LoadTool
from sluice.contracts.pilots.pilot_detail import PilotDetail
from sluice.contracts.pilots.sites import NewSite, NewSiteSecret, Site, SiteList


class SharedWorkCalls(ServiceClient):
    """Calls of the WMS that the operator service forwards."""

    async def get_pilot(self, uid: UUID) -> PilotDetail:
        """Return a pilot with its present and past jobs and its failures.

        Raises:
            NotFound: There is no such pilot.
        """
        return await self.call("GET", f"{API}/pilots/{uid}", answer=PilotDetail)

    async def stop_pilot(self, uid: UUID) -> None:
        """Ask a pilot to hand back its jobs and end.

        Raises:
            NotFound: There is no such pilot.
            Conflict: It has ended.
        """
        await self.call("POST", f"{API}/pilots/{uid}/stop")

    async def load_tool(self, uid: UUID, request: LoadTool) -> None:
        """Have a pilot finish its jobs, and then get the jobs of a step before all others.

        Raises:
            NotFound: There is no such pilot.
            Conflict: It drains, was lost or has signed off.
        """
        await self.call("PUT", f"{API}/pilots/{uid}/load", body=request)

    async def remove_pilot(self, uid: UUID) -> None:
        """Remove a pilot from the lists.

        Raises:
            NotFound: There is no such pilot.
            Conflict: It is active.
        """
        await self.call("DELETE", f"{API}/pilots/{uid}")

    async def drain_pilot(self, uid: UUID) -> None:
        """Ask a pilot, with its next heartbeat, to finish its jobs and end.

        Raises:
            NotFound: There is no such pilot.
        """
        await self.call("POST", f"{API}/pilots/{uid}/drain")

    async def acknowledge_pilot(self, uid: UUID, acknowledgement: Acknowledge) -> None:
        """Acknowledge that a pilot was lost.

        Raises:
            NotFound: There is no such pilot.
            Conflict: It is not lost, or somebody else has acknowledged it first.
        """
        await self.call("POST", f"{API}/pilots/{uid}/acknowledge", body=acknowledgement)

    async def list_steps(self) -> StepList:
        """Return the steps over all chains."""
        return await self.call("GET", f"{API}/steps", answer=StepList)

    async def list_limits(self) -> LimitList:
        """Return the limits on resources that are counted over all nodes."""
        return await self.call("GET", f"{API}/limits", answer=LimitList)

    async def set_limit(self, new: SetLimit) -> LimitList:
        """Set a limit. Repeating the call is safe."""
        return await self.call("PUT", f"{API}/limits", body=new, answer=LimitList)

    async def remove_limit(self, name: str) -> LimitList:
        """Remove a limit.

        Raises:
            NotFound: There is no such limit.
        """
        return await self.call("DELETE", build_path("limits", name), answer=LimitList)

    async def list_sites(self) -> SiteList:
        """Return the sites that pilots come from."""
        return await self.call("GET", f"{API}/sites", answer=SiteList)

    async def add_site(self, new: NewSite) -> NewSiteSecret:
        """Add a site. The call is not retried.

        Raises:
            Conflict: The site exists.
        """
        return await self.call("POST", f"{API}/sites", body=new, answer=NewSiteSecret, retry=False)

    async def revoke_site(self, name: str) -> Site:
        """Revoke a site.

        Raises:
            NotFound: There is no such site.
        """
        return await self.call("DELETE", build_path("sites", name), answer=Site)
