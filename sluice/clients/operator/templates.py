"""What the operator service is asked about templates."""

import asyncio
from pathlib import Path
from urllib.parse import quote
from uuid import UUID

from sluice.clients.base import API, ServiceClient
from sluice.contracts.owners import Share
from sluice.contracts.standing import TemplateDue
from sluice.contracts.templates import (
    CheckedTemplate,
    CheckTemplate,
    NewTemplate,
    RestoreTemplate,
    Template,
    TemplateChanges,
    TemplateList,
)  # fmt: skip


class TemplateCalls(ServiceClient):
    """Templates, and those that came with runs of files."""

    async def store_template(self, template: NewTemplate) -> Template:
        """The same text again gives the version that is there. Raises ``Unprocessable`` with every
        finding; ``Conflict`` where it is to replace another version than the latest.
        """
        return await self.call("POST", f"{API}/templates", body=template, answer=Template)

    async def store_template_file(self, path: Path, *, name: str | None = None) -> Template:
        """As ``store_template``; findings name the file. ``name``: by default the file's, without
        its ending.
        """
        file = {"cwl": (path.name, await asyncio.to_thread(path.read_bytes), "application/yaml")}
        request = self._http.build_request(
            "POST", f"{API}/templates", files=file, data={} if name is None else {"name": name}
        )
        return Template.model_validate_json((await self._send(request)).content)

    async def compare_template(self, template: NewTemplate) -> TemplateChanges:
        """What ``store_template`` would change. Raises ``Unprocessable`` with every finding."""
        return await self.call(
            "POST", f"{API}/templates/compare", body=template, answer=TemplateChanges
        )

    async def check_template(self, cwl: str, *, file: str = "workflow.cwl") -> CheckedTemplate:
        return await self.call(
            "POST",
            f"{API}/templates/check",
            body=CheckTemplate(cwl=cwl, file=file),
            answer=CheckedTemplate,
        )

    async def share_template(self, name: str, share: Share) -> Template:
        """Raises ``NotFound``; ``Forbidden`` where it is another group's."""
        path = f"{API}/templates/{quote(name, safe='')}/share"
        return await self.call("PUT", path, body=share, answer=Template)

    async def templates(
        self, *, every_version: bool = False, disabled: bool = False
    ) -> TemplateList:
        """The latest version of each that data sets may go through, with ``disabled`` also of the
        others; or all versions.
        """
        return await self.read_more(
            f"{API}/templates",
            answer=TemplateList,
            params={"all": every_version or None},
            additions={"disabled": disabled or None},
        )

    async def template(self, name: str, *, version: int | None = None) -> Template:
        """With its text. Raises ``NotFound``."""
        return await self.call(
            "GET", f"{API}/templates/{quote(name)}", answer=Template, params={"version": version}
        )

    async def template_due(self, name: str) -> TemplateDue:
        """Raises ``NotFound``, also where it takes data sets as they close, or is asked for."""
        return await self.call("GET", f"{API}/templates/{quote(name)}/due", answer=TemplateDue)

    async def restore_template(self, name: str, *, version: int) -> Template:
        """The files of ``version`` as the latest. Raises ``NotFound``, and ``Unprocessable`` where
        today's checks refuse them.
        """
        path = f"{API}/templates/{quote(name)}/restore"
        return await self.call("POST", path, body=RestoreTemplate(version=version), answer=Template)

    async def disable_template(self, name: str) -> Template:
        """Nothing goes through it any more; running chains go on. Raises ``NotFound``."""
        return await self.call("POST", f"{API}/templates/{quote(name)}/disable", answer=Template)

    async def enable_template(self, name: str) -> Template:
        """Raises ``NotFound``."""
        return await self.call("POST", f"{API}/templates/{quote(name)}/enable", answer=Template)

    async def delete_template(self, name: str, *, force: bool = False) -> None:
        """Raises ``NotFound``; ``Conflict`` while chains of it run, unless ``force``."""
        await self.call("DELETE", f"{API}/templates/{quote(name)}", params={"force": force or None})

    async def store_run_template(self, template: NewTemplate) -> Template:
        """For ``request_chain`` alone: nothing is matched with it. The same files again give what
        is there. Raises ``Unprocessable`` with every finding.
        """
        return await self.call("POST", f"{API}/run-templates", body=template, answer=Template)

    async def run_templates(
        self, *, limit: int | None = None, after: UUID | None = None, paged: bool = False
    ) -> TemplateList:
        """Those that came with runs, the last one run first; with ``paged`` says where the next
        page begins. Raises ``NotFound`` where there never was ``after``.
        """
        params = {"limit": limit, "after": after, "paged": paged or None}
        return await self.call("GET", f"{API}/run-templates", answer=TemplateList, params=params)

    async def run_template(self, uid: UUID) -> Template:
        """With its text. Raises ``NotFound``."""
        return await self.call("GET", f"{API}/run-templates/{uid}", answer=Template)

    async def delete_run_template(self, uid: UUID) -> None:
        """Raises ``NotFound``."""
        await self.call("DELETE", f"{API}/run-templates/{uid}")
