"""Calls to the operator service about notices, pilots and queues."""

from uuid import UUID

from sluice.clients.base import API, ServiceClient, path_of
from sluice.contracts.chains.attention import Acknowledge, NoticeList
from sluice.contracts.chains.chains import (
    Chain,
)
from sluice.contracts.jobs.limits import LimitList, SetLimit
from sluice.contracts.jobs.steps import SetStepPriority, StepList
from sluice.contracts.jobs.warm_workers import LoadTool
from sluice.contracts.pilots.pilot_detail import PilotDetail
from sluice.contracts.pilots.pilot_list import PilotList
from sluice.contracts.pilots.sites import NewSite, NewSiteSecret, Site, SiteList
from sluice.contracts.queues import ChooseMessages, DeadMessages, MessagesMoved, QueueList


class OperationCalls(ServiceClient):
    """Calls about notices, pilots, steps, limits, sites and queues."""

    async def attention(self, *, limit: int | None = None) -> NoticeList:
        """Return the notices: what needs attention."""
        return await self.call(
            "GET", f"{API}/attention", answer=NoticeList, params={"limit": limit}
        )

    async def acknowledge_chain(self, uid: UUID, asked: Acknowledge) -> Chain:
        """Acknowledge that a chain failed.

        Raises:
            NotFound: There is no such chain.
            Conflict: It has not failed, or somebody else has acknowledged it first.
        """
        return await self.call("POST", f"{API}/chains/{uid}/acknowledge", body=asked, answer=Chain)

    async def acknowledge_pilot(self, uid: UUID, asked: Acknowledge) -> None:
        """Acknowledge that a pilot was lost.

        Raises:
            NotFound: There is no such pilot.
            Conflict: It is not lost, or somebody else has acknowledged it first.
        """
        await self.call("POST", f"{API}/pilots/{uid}/acknowledge", body=asked)

    async def pilots(self, *, after: str | None = None, limit: int | None = None) -> PilotList:
        """Return pilots, active ones first; without ``limit``, at most ten thousand."""
        return await self.call(
            "GET", f"{API}/pilots", answer=PilotList, params={"after": after, "limit": limit}
        )

    async def pilot(self, uid: UUID) -> PilotDetail:
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

    async def load_tool(self, uid: UUID, asked: LoadTool) -> None:
        """Have a pilot finish its jobs, and then get the jobs of a step before all others.

        Raises:
            NotFound: There is no such pilot.
            Conflict: It drains, was lost or has signed off.
        """
        await self.call("PUT", f"{API}/pilots/{uid}/load", body=asked)

    async def remove_pilot(self, uid: UUID) -> None:
        """Remove a pilot from the lists.

        Raises:
            NotFound: There is no such pilot.
            Conflict: It is active.
        """
        await self.call("DELETE", f"{API}/pilots/{uid}")

    async def drain_pilot(self, uid: UUID) -> None:
        """Ask a pilot to finish its jobs and end."""
        await self.call("POST", f"{API}/pilots/{uid}/drain")

    async def steps(self) -> StepList:
        """Return the steps of published templates, and others that have tasks."""
        return await self.call("GET", f"{API}/steps", answer=StepList)

    async def prioritise_step(self, step: str, new: SetStepPriority) -> StepList:
        """Set the priority of a step.

        Raises:
            NotFound: No template has such a step.
        """
        path = path_of("steps", step, "priority")
        return await self.call("PUT", path, body=new, answer=StepList)

    async def limits(self) -> LimitList:
        """Return the limits on resources that are counted over all nodes."""
        return await self.call("GET", f"{API}/limits", answer=LimitList)

    async def set_limit(self, new: SetLimit) -> LimitList:
        """Set a limit."""
        return await self.call("PUT", f"{API}/limits", body=new, answer=LimitList)

    async def remove_limit(self, name: str) -> LimitList:
        """Remove a limit.

        Raises:
            NotFound: There is no such limit.
        """
        return await self.call("DELETE", path_of("limits", name), answer=LimitList)

    async def sites(self) -> SiteList:
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
        return await self.call("DELETE", path_of("sites", name), answer=Site)

    async def queues(self) -> QueueList:
        """Return the queues with their waiting messages and dead letters."""
        return await self.call("GET", f"{API}/queues", answer=QueueList)

    async def dead_messages(self, queue: str, *, limit: int | None = None) -> DeadMessages:
        """Return the oldest dead letters of a queue.

        Raises:
            NotFound: There is no such queue.
        """
        return await self.call(
            "GET",
            path_of("queues", queue, "dead"),
            answer=DeadMessages,
            params={"limit": limit},
        )

    async def dead_body(self, queue: str, message: str) -> bytes:
        """Return the whole body of a dead letter.

        Raises:
            NotFound: There is no such dead letter.
        """
        path = path_of("queues", queue, "dead", message, "body")
        return (await self._send(self._http.build_request("GET", path))).content

    async def requeue(self, queue: str, choice: ChooseMessages) -> MessagesMoved:
        """Put dead letters back into their queue.

        Raises:
            NotFound: The queue, or every named message, does not exist.
        """
        return await self.call(
            "POST", path_of("queues", queue, "requeue"), body=choice, answer=MessagesMoved
        )

    async def drop(self, queue: str, choice: ChooseMessages) -> MessagesMoved:
        """Delete dead letters. Errors are as in ``requeue``."""
        return await self.call(
            "POST", path_of("queues", queue, "drop"), body=choice, answer=MessagesMoved
        )
