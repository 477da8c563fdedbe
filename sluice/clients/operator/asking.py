"""What whoever watches steps that ask people wants to know and change: at the operator service, or
at the service that asks, at the same paths.
"""

from contextlib import AbstractAsyncContextManager
from typing import NamedTuple
from urllib.parse import quote
from uuid import UUID

import httpx

from sluice.clients.base import API, ServiceClient
from sluice.contracts.asking_watch import (
    AskDevice,
    AskDevices,
    AskingSteps,
    AskLink,
    AskLinks,
    NewLink,
    SetStanding,
)


class AskingOf(NamedTuple):
    """A step that asks people, of one group."""

    group: str
    template: str
    step: str

    @property
    def path(self) -> str:
        return f"{API}/asking/steps/" + "/".join(quote(name, safe="") for name in self)


class AskWatchCalls(ServiceClient):
    async def asking_steps(self) -> AskingSteps:
        """Those that ask now, or did within 30 days."""
        return await self.call("GET", f"{API}/asking/steps", answer=AskingSteps)

    async def make_ask_link(self, of: AskingOf, new: NewLink) -> AskLink:
        """With its address, which is not told again; without a scheme it is one of the operator
        service. Never repeated by itself. Raises ``NotFound``; ``Conflict`` where the template
        allows none, or none for so long.
        """
        return await self.call("POST", f"{of.path}/links", body=new, answer=AskLink, retry=False)

    async def ask_links(self, of: AskingOf) -> AskLinks:
        """The newest first. Raises ``NotFound``."""
        return await self.call("GET", f"{of.path}/links", answer=AskLinks)

    async def end_ask_link(self, uid: UUID) -> None:
        """Raises ``NotFound``; ``Conflict`` where it has ended."""
        await self.call("DELETE", f"{API}/asking/links/{uid}")

    async def ask_devices(self, of: AskingOf) -> AskDevices:
        """The worst first. Raises ``NotFound``."""
        return await self.call("GET", f"{of.path}/devices", answer=AskDevices)

    async def set_standing(self, device: UUID, new: SetStanding) -> AskDevice:
        """Raises ``NotFound``; ``Conflict`` where it stands so already."""
        path = f"{API}/asking/devices/{device}/standing"
        return await self.call("PUT", path, body=new, answer=AskDevice)

    def all_answers(self, of: AskingOf) -> AbstractAsyncContextManager[httpx.Response]:
        """As JSON Lines, read while they come. Raises ``NotFound``, ``NotAvailable``, httpx's
        ``TransportError``.
        """
        return self.stream(f"{of.path}/answers", headers={})
