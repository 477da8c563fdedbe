"""Calls of wfms.ask, generated from its OpenAPI document by `make docs`."""

from uuid import UUID

from sluice.clients.base import API, ServiceClient, build_path
from sluice.contracts.human_tasks.supervision import (
    AskDevice,
    AskDevices,
    AskLink,
    AskLinks,
    HumanStepList,
    NewLink,
    SetDeviceState,
)


class ForwardedAskCalls(ServiceClient):
    """Calls that the operator service forwards."""

    async def set_device_state(self, uid: UUID, body: SetDeviceState) -> AskDevice:
        """Exclude a browser and revoke its annotations, or admit it again.

        It can raise ``NotFound`` and ``Conflict``.
        """
        return await self.call(
            "PUT", f"{API}/asking/devices/{uid}/state", body=body, answer=AskDevice
        )

    async def end_ask_link(self, uid: UUID) -> None:
        """End a link.

        Browsers that used it are no longer admitted.

        It can raise ``NotFound`` and ``Conflict``.
        """
        await self.call("DELETE", f"{API}/asking/links/{uid}")

    async def list_human_steps(self) -> HumanStepList:
        """List the progress of human tasks of the last 30 days, by step."""
        return await self.call("GET", f"{API}/asking/steps", answer=HumanStepList)

    async def list_ask_devices(self, group: str, template: str, step: str) -> AskDevices:
        """List the browsers of annotators.

        Those that seem to answer without looking come first.

        It can raise ``NotFound``.
        """
        return await self.call(
            "GET",
            build_path("asking", "steps", group, template, step, "devices"),
            answer=AskDevices,
        )

    async def list_ask_links(self, group: str, template: str, step: str) -> AskLinks:
        """List the links to the page of a human task, newest first, without their keys.

        It can raise ``NotFound``.
        """
        return await self.call(
            "GET", build_path("asking", "steps", group, template, step, "links"), answer=AskLinks
        )

    async def make_ask_link(self, group: str, template: str, step: str, body: NewLink) -> AskLink:
        """Create a link to the page of a human task.

        Its key is returned only this once.

        It can raise ``NotFound`` and ``Conflict``.
        """
        return await self.call(
            "POST",
            build_path("asking", "steps", group, template, step, "links"),
            retry=False,
            body=body,
            answer=AskLink,
        )


class AskCalls(ForwardedAskCalls):
    """All calls."""
