"""Calls to the operator service about templates."""

from uuid import UUID

from sluice.clients.base import API, ServiceClient, build_path
from sluice.contracts.access.owners import Share
from sluice.contracts.data.append_only import TemplateTrigger
from sluice.contracts.templates.templates import (
    CheckedTemplate,
    CheckTemplate,
    NewTemplate,
    RestoreTemplate,
    Template,
    TemplateChanges,
    TemplateList,
)  # fmt: skip


class TemplateCalls(ServiceClient):
    """Calls about published templates, and about templates that came with runs of files."""

    async def store_template(self, template: NewTemplate) -> Template:
        """Store a template. The same text gives the existing version.

        Raises:
            Unprocessable: The template has errors. The error has all findings.
            Conflict: It is based on another version than the latest.
        """
        return await self.call("POST", f"{API}/templates", body=template, answer=Template)

    async def compare_template(self, template: NewTemplate) -> TemplateChanges:
        """Return what ``store_template`` would change.

        Raises:
            Unprocessable: The template has errors. The error has all findings.
        """
        return await self.call(
            "POST", f"{API}/templates/compare", body=template, answer=TemplateChanges
        )

    async def check_template(self, cwl: str, *, file: str = "workflow.cwl") -> CheckedTemplate:
        """Check a template without storing it."""
        return await self.call(
            "POST",
            f"{API}/templates/check",
            body=CheckTemplate(cwl=cwl, file=file),
            answer=CheckedTemplate,
        )

    async def share_template(self, name: str, share: Share) -> Template:
        """Share a template with groups.

        Raises:
            NotFound: There is no such template.
            Forbidden: It belongs to another group.
        """
        path = build_path("templates", name, "share")
        return await self.call("PUT", path, body=share, answer=Template)

    async def list_templates(
        self, *, every_version: bool = False, disabled: bool = False
    ) -> TemplateList:
        """Return the latest version of each enabled template.

        ``disabled`` includes disabled templates. ``every_version`` returns all versions.
        """
        params = {"all": every_version or None, "disabled": disabled or None}
        return await self.call("GET", f"{API}/templates", answer=TemplateList, params=params)

    async def get_template(self, name: str, *, version: int | None = None) -> Template:
        """Return a template with its text.

        Raises:
            NotFound: There is no such template.
        """
        return await self.call(
            "GET", build_path("templates", name), answer=Template, params={"version": version}
        )

    async def get_template_trigger(self, name: str) -> TemplateTrigger:
        """Return the trigger of a template, with its last and next times.

        Raises:
            NotFound: There is no such template, or it has no trigger.
        """
        return await self.call(
            "GET", build_path("templates", name, "trigger"), answer=TemplateTrigger
        )

    async def restore_template(self, name: str, *, version: int) -> Template:
        """Store the files of an earlier version as the latest one.

        Raises:
            NotFound: There is no such version.
            Unprocessable: Today's checks refuse the files.
        """
        path = build_path("templates", name, "restore")
        return await self.call("POST", path, body=RestoreTemplate(version=version), answer=Template)

    async def disable_template(self, name: str) -> Template:
        """Disable a template. Running chains continue.

        Raises:
            NotFound: There is no such template.
        """
        return await self.call("POST", build_path("templates", name, "disable"), answer=Template)

    async def enable_template(self, name: str) -> Template:
        """Enable a template.

        Raises:
            NotFound: There is no such template.
        """
        return await self.call("POST", build_path("templates", name, "enable"), answer=Template)

    async def delete_template(self, name: str, *, force: bool = False) -> None:
        """Delete a template.

        Raises:
            NotFound: There is no such template.
            Conflict: Chains of it run, and ``force`` is not set.
        """
        await self.call("DELETE", build_path("templates", name), params={"force": force or None})

    async def store_run_template(self, template: NewTemplate) -> Template:
        """Store a template for ``request_chain`` only, so that it matches no data sets.

        The same files give the existing template.

        Raises:
            Unprocessable: The template has errors. The error has all findings.
        """
        return await self.call("POST", f"{API}/run-templates", body=template, answer=Template)

    async def list_run_templates(
        self, *, limit: int | None = None, after: UUID | None = None
    ) -> TemplateList:
        """Return templates that came with runs, the one that ran last first.

        Raises:
            NotFound: ``after`` never existed.
        """
        params = {"limit": limit, "after": after}
        return await self.call("GET", f"{API}/run-templates", answer=TemplateList, params=params)

    async def get_run_template(self, uid: UUID) -> Template:
        """Return a run template with its text.

        Raises:
            NotFound: There is no such template.
        """
        return await self.call("GET", f"{API}/run-templates/{uid}", answer=Template)

    async def delete_run_template(self, uid: UUID) -> None:
        """Delete a run template.

        Raises:
            NotFound: There is no such template.
        """
        await self.call("DELETE", f"{API}/run-templates/{uid}")
