"""A fake operator service for tests of the WfMS: templates with any plans, and secrets."""

from dataclasses import dataclass, field
from uuid import UUID

from fastapi import APIRouter

from sluice.contracts.access.secrets import Secret
from sluice.contracts.common.problems import NotFound
from sluice.contracts.templates.templates import Template, TemplateList
from sluice.text.visible_text import quoted


@dataclass
class FakeOperator:
    """``templates`` has all versions in order of creation, and ``secrets`` secrets by name."""

    templates: list[Template] = field(default_factory=list)
    secrets: dict[str, Secret] = field(default_factory=dict)

    def routes(self) -> APIRouter:
        router = APIRouter(prefix="/api/v1")

        @router.get("/templates")
        async def latest() -> TemplateList:
            newest = {template.name: template for template in self.templates}
            return TemplateList(templates=[newest[name] for name in sorted(newest)])

        @router.get("/secrets/{name}")
        async def secret(name: str, template_id: UUID | None = None) -> Secret:
            if name not in self.secrets:
                raise NotFound(f"there is no secret {quoted(name)}", name=name)
            secret = self.secrets[name]
            refused = None if template_id is None else self._explain_refusal(secret, template_id)
            return secret.model_copy(update={"refused": refused})

        return router

    def _explain_refusal(self, secret: Secret, template_id: UUID) -> str | None:
        template = next((one for one in self.templates if one.id == template_id), None)
        users = secret.newest
        if template is None:
            return f"is for templates called {users.users}, and there is no such template"
        if template.group != users.group or not users.may_be_used_by(template.name):
            return f"is for templates called {users.users}, and this is {quoted(template.name)}"
        return None
