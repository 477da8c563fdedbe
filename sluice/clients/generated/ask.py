"""Calls of wfms.ask, generated from its OpenAPI document by `make docs`."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from sluice.clients.base import API, ServiceClient, build_path

if TYPE_CHECKING:
    from sluice.contracts.human_tasks.supervision import (
        AskBrowser,
        AskBrowsers,
        AskLink,
        AskLinks,
        HumanStepList,
        NewLink,
        SetBrowserState,
    )


class ForwardedAskCalls(ServiceClient):
    """Calls that the operator service forwards."""

    async def set_browser_state(self, uid: UUID, body: SetBrowserState) -> AskBrowser:
        """Exclude a browser and revoke its annotations, or admit it again.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.human_tasks.supervision import AskBrowser

        return await self.call(
            "PUT", f"{API}/asking/browsers/{uid}/state", body=body, answer=AskBrowser
        )

    async def end_ask_link(self, uid: UUID) -> None:
        """End a link.

        Browsers that used it are no longer admitted.

        It can raise ``NotFound`` and ``Conflict``.
        """
        await self.call("DELETE", f"{API}/asking/links/{uid}")

    async def list_human_steps(self) -> HumanStepList:
        """List the progress of human tasks of the last 30 days, by step."""
        from sluice.contracts.human_tasks.supervision import HumanStepList

        return await self.call("GET", f"{API}/asking/steps", answer=HumanStepList)

    async def list_ask_browsers(self, group: str, template: str, step: str) -> AskBrowsers:
        """List the browsers of annotators.

        Those that seem to answer without looking come first.

        It can raise ``NotFound``.
        """
        from sluice.contracts.human_tasks.supervision import AskBrowsers

        return await self.call(
            "GET",
            build_path("asking", "steps", group, template, step, "browsers"),
            answer=AskBrowsers,
        )

    async def list_ask_links(self, group: str, template: str, step: str) -> AskLinks:
        """List the links to the page of a human task, newest first, without their keys.

        It can raise ``NotFound``.
        """
        from sluice.contracts.human_tasks.supervision import AskLinks

        return await self.call(
            "GET", build_path("asking", "steps", group, template, step, "links"), answer=AskLinks
        )

    async def create_ask_link(self, group: str, template: str, step: str, body: NewLink) -> AskLink:
        """Create a link to the page of a human task.

        Its key is returned only this once.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.human_tasks.supervision import AskLink

        return await self.call(
            "POST",
            build_path("asking", "steps", group, template, step, "links"),
            retry=False,
            body=body,
            answer=AskLink,
        )


class AskCalls(ForwardedAskCalls):
    """All calls."""
