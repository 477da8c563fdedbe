"""What the operator service is asked about the system itself: what needs a person, pilots,
queues.
"""

from urllib.parse import quote
from uuid import UUID

from sluice.clients.base import API, ServiceClient
from sluice.contracts.attention import Acknowledge, NoticeList
from sluice.contracts.chains import (
    Chain,
)
from sluice.contracts.limits import LimitList, SetLimit
from sluice.contracts.loaded import LoadTool
from sluice.contracts.pilot_detail import PilotDetail
from sluice.contracts.pilot_list import PilotList
from sluice.contracts.queues import ChooseMessages, DeadMessages, MessagesMoved, QueueList
from sluice.contracts.sites import GivenSite, NewSite, Site, SiteList
from sluice.contracts.steps import SetStepPriority, StepList


class OperationCalls(ServiceClient):
    """What needs a person, pilots, and the queues between services."""

    async def attention(self, *, limit: int | None = None) -> NoticeList:
        """What needs a person."""
        return await self.call(
            "GET", f"{API}/attention", answer=NoticeList, params={"limit": limit}
        )

    async def acknowledge_chain(self, uid: UUID, asked: Acknowledge) -> Chain:
        """Somebody has seen that it failed. Raises ``NotFound``; ``Conflict`` where it has not, or
        where somebody else has seen it first.
        """
        return await self.call("POST", f"{API}/chains/{uid}/acknowledge", body=asked, answer=Chain)

    async def acknowledge_pilot(self, uid: UUID, asked: Acknowledge) -> None:
        """Somebody has seen that it was lost. Raises ``NotFound``; ``Conflict`` where it is not, or
        where somebody else has seen it first.
        """
        await self.call("POST", f"{API}/pilots/{uid}/acknowledge", body=asked)

    async def pilots(self, *, after: str | None = None, limit: int | None = None) -> PilotList:
        """Those that are there come first; without ``limit``, ten thousand at most."""
        return await self.call(
            "GET", f"{API}/pilots", answer=PilotList, params={"after": after, "limit": limit}
        )

    async def pilot(self, uid: UUID) -> PilotDetail:
        """With what it has, what it did last, and what failed there. Raises ``NotFound``."""
        return await self.call("GET", f"{API}/pilots/{uid}", answer=PilotDetail)

    async def stop_pilot(self, uid: UUID) -> None:
        """Asks it to hand back what it has, and to end. Raises ``NotFound``; ``Conflict`` where it
        has ended.
        """
        await self.call("POST", f"{API}/pilots/{uid}/stop")

    async def load_tool(self, uid: UUID, asked: LoadTool) -> None:
        """Jobs of a step go to it first. Raises ``NotFound``; ``Conflict`` where it takes none."""
        await self.call("PUT", f"{API}/pilots/{uid}/load", body=asked)

    async def remove_pilot(self, uid: UUID) -> None:
        """Off the lists. Raises ``NotFound``; ``Conflict`` where it is there."""
        await self.call("DELETE", f"{API}/pilots/{uid}")

    async def drain_pilot(self, uid: UUID) -> None:
        await self.call("POST", f"{API}/pilots/{uid}/drain")

    async def steps(self) -> StepList:
        """Those of published templates, and others that have tasks."""
        return await self.call("GET", f"{API}/steps", answer=StepList)

    async def prioritise_step(self, step: str, new: SetStepPriority) -> StepList:
        """Raises ``NotFound`` where no template has such a step."""
        path = f"{API}/steps/{quote(step, safe='')}/priority"
        return await self.call("PUT", path, body=new, answer=StepList)

    async def limits(self) -> LimitList:
        """On resources that are counted over all nodes."""
        return await self.call("GET", f"{API}/limits", answer=LimitList)

    async def set_limit(self, new: SetLimit) -> LimitList:
        return await self.call("PUT", f"{API}/limits", body=new, answer=LimitList)

    async def remove_limit(self, name: str) -> LimitList:
        """Raises ``NotFound``."""
        return await self.call("DELETE", f"{API}/limits/{quote(name, safe='')}", answer=LimitList)

    async def sites(self) -> SiteList:
        """That pilots come from."""
        return await self.call("GET", f"{API}/sites", answer=SiteList)

    async def add_site(self, new: NewSite) -> GivenSite:
        """Never repeated by itself. Raises ``Conflict``."""
        return await self.call("POST", f"{API}/sites", body=new, answer=GivenSite, retry=False)

    async def revoke_site(self, name: str) -> Site:
        """Raises ``NotFound``."""
        return await self.call("DELETE", f"{API}/sites/{quote(name, safe='')}", answer=Site)

    async def queues(self) -> QueueList:
        """What waits between services, and what is dead."""
        return await self.call("GET", f"{API}/queues", answer=QueueList)

    async def dead_messages(self, queue: str, *, limit: int | None = None) -> DeadMessages:
        """The oldest, with their reasons. Raises ``NotFound``."""
        return await self.call(
            "GET",
            f"{API}/queues/{quote(queue)}/dead",
            answer=DeadMessages,
            params={"limit": limit},
        )

    async def dead_body(self, queue: str, message: str) -> bytes:
        """All that a dead message says. Raises ``NotFound``."""
        path = f"{API}/queues/{quote(queue)}/dead/{quote(message)}/body"
        return (await self._send(self._http.build_request("GET", path))).content

    async def requeue(self, queue: str, choice: ChooseMessages) -> MessagesMoved:
        """Raises ``NotFound``: the queue, or every message that is named."""
        return await self.call(
            "POST", f"{API}/queues/{quote(queue)}/requeue", body=choice, answer=MessagesMoved
        )

    async def drop(self, queue: str, choice: ChooseMessages) -> MessagesMoved:
        """As ``requeue``; for good."""
        return await self.call(
            "POST", f"{API}/queues/{quote(queue)}/drop", body=choice, answer=MessagesMoved
        )
