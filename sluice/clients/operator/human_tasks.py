"""Calls for supervisors of human tasks.

The operator service and the human-task service have them at the same paths.
"""

from contextlib import AbstractAsyncContextManager
from typing import NamedTuple
from urllib.parse import quote
from uuid import UUID

import httpx

from sluice.clients.base import API, ServiceClient
from sluice.contracts.human_tasks.supervision import (
    AskDevice,
    AskDevices,
    AskLink,
    AskLinks,
    HumanStepList,
    NewLink,
    SetDeviceState,
)


class HumanStepKey(NamedTuple):
    """A human step of a group's template."""

    group: str
    template: str
    step: str

    @property
    def path(self) -> str:
        """Return the path of the step."""
        return f"{API}/asking/steps/" + "/".join(quote(name, safe="") for name in self)


class HumanStepCalls(ServiceClient):
    """Calls for supervisors of human tasks."""

    async def list_human_steps(self) -> HumanStepList:
        """Return the steps that ask people now, or did so within 30 days."""
        return await self.call("GET", f"{API}/asking/steps", answer=HumanStepList)

    async def make_ask_link(self, step_key: HumanStepKey, new: NewLink) -> AskLink:
        """Create a link to a step. It is not retried.

        Only this answer has the address. An address without a scheme belongs to the operator
        service.

        Raises:
            NotFound: There is no such step.
            Conflict: The template allows no links, or only shorter ones.
        """
        return await self.call(
            "POST", f"{step_key.path}/links", body=new, answer=AskLink, retry=False
        )

    async def list_ask_links(self, step_key: HumanStepKey) -> AskLinks:
        """Return the links to a step, newest first.

        Raises:
            NotFound: There is no such step.
        """
        return await self.call("GET", f"{step_key.path}/links", answer=AskLinks)

    async def end_ask_link(self, uid: UUID) -> None:
        """End a link.

        Raises:
            NotFound: There is no such link.
            Conflict: It has ended.
        """
        await self.call("DELETE", f"{API}/asking/links/{uid}")

    async def list_ask_devices(self, step_key: HumanStepKey) -> AskDevices:
        """Return the browsers that answer a step, the worst first.

        Raises:
            NotFound: There is no such step.
        """
        return await self.call("GET", f"{step_key.path}/devices", answer=AskDevices)

    async def set_device_state(self, device: UUID, new: SetDeviceState) -> AskDevice:
        """Set the state of a browser.

        Raises:
            NotFound: There is no such browser.
            Conflict: It has this state already.
        """
        path = f"{API}/asking/devices/{device}/state"
        return await self.call("PUT", path, body=new, answer=AskDevice)

    def stream_answers(self, step_key: HumanStepKey) -> AbstractAsyncContextManager[httpx.Response]:
        """Stream all answers of a step as JSON Lines.

        httpx's ``TransportError`` is raised if the response breaks off.

        Raises:
            NotFound: There is no such step.
            NotAvailable: The service does not answer.
        """
        return self.stream(f"{step_key.path}/answers", headers={})
