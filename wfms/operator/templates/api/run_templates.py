"""``/api/v1/run-templates``: one-off templates.

No data set is matched with them.
"""

from http import HTTPStatus
from typing import Annotated
from uuid import UUID, uuid4

from pydantic import Field

from sluice.contracts.common.base import Contract
from sluice.contracts.common.problems import NotFound, Unprocessable
from sluice.contracts.templates.templates import NewTemplate, Template, TemplateList
from sluice.servicekit.access.policy import SUBMITTERS, VIEWERS
from wfms.operator.context import OperatorContext
from wfms.operator.errors import RequestTooLarge
from wfms.operator.http.route import Route, RouteResponse
from wfms.operator.templates.api.uploads import SentTemplate, read_upload
from wfms.operator.templates.usecases.run_templates.delete_run_template import delete_run_template
from wfms.operator.templates.usecases.run_templates.get_run_template import get_run_template
from wfms.operator.templates.usecases.run_templates.list_run_templates import list_run_templates
from wfms.operator.templates.usecases.run_templates.store_run_template import store_run_template


class RunListQuery(Contract):
    """Which part of the list is returned.

    Attributes:
        after: The ``after`` of the page before.
    """

    limit: Annotated[int, Field(ge=1, le=1000)] = 1000
    after: UUID | None = None


class RunTemplateRoutes:
    """The routes of one-off templates."""

    def __init__(self, context: OperatorContext) -> None:
        self._context = context
        self._database = context.database

    def routes(self) -> list[Route]:
        """Return the declarations of the routes."""
        path = "/run-templates/<uuid:template_id>"
        return [
            Route("POST", "/run-templates", "store_run_template", self.store, SUBMITTERS,
                  "Store a template for a run, with which no data set is matched. If the same"
                  " files are stored, the answer is 200.",
                  answer=Template, status=201, again=200, body=NewTemplate, read=read_upload,
                  uploads=True, errors=(Unprocessable, RequestTooLarge)),
            Route("GET", "/run-templates", "list_run_templates", self.list, VIEWERS,
                  "List templates that came with runs, the most recent run first.",
                  answer=TemplateList, query=RunListQuery, errors=(NotFound,)),
            Route("GET", path, "get_run_template", self.read, VIEWERS,
                  "Return a template that came with a run, with its files.",
                  answer=Template, errors=(NotFound,)),
            Route("DELETE", path, "delete_run_template", self.delete, SUBMITTERS,
                  "Remove a template that came with a run from the list. Its chains continue.",
                  status=204, errors=(NotFound,)),
        ]  # fmt: skip

    async def store(self, body: SentTemplate) -> RouteResponse:
        """Store a template, or return the stored one that has the same files."""
        stored = await store_run_template(
            self._context, body.files, name=body.name, template_id=uuid4(), group=body.group
        )
        return RouteResponse(
            stored.template.contract(with_files=True),
            HTTPStatus.CREATED if stored.new else HTTPStatus.OK,
        )

    async def list(self, query: RunListQuery) -> TemplateList:
        """List the templates."""
        page = await list_run_templates(self._database, limit=query.limit, after=query.after)
        return TemplateList(
            templates=[template.contract() for template in page.templates],
            after=page.after,
        )

    async def read(self, template_id: UUID) -> Template:
        """Return a template with its files."""
        return (await get_run_template(self._database, template_id)).contract(with_files=True)

    async def delete(self, template_id: UUID) -> None:
        """Delete a template from the list."""
        await delete_run_template(self._database, template_id)
