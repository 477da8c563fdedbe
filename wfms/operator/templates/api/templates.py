"""``/api/v1/templates``: published templates."""

from http import HTTPStatus
from uuid import uuid4

from sluice.contracts.access.access import Role
from sluice.contracts.access.owners import Share
from sluice.contracts.access.services import CallingService
from sluice.contracts.common.base import Contract
from sluice.contracts.common.problems import Conflict, NotAvailable, NotFound, Unprocessable
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
from sluice.servicekit.access.policy import SHIFT_OR_OWNER, SUBMITTERS, VIEWERS, policy
from sluice.servicekit.web.openapi import client_hints
from wfms.operator.context import OperatorContext
from wfms.operator.errors import RequestTooLarge
from wfms.operator.http.access import is_service_request
from wfms.operator.http.route import Route, RouteResponse
from wfms.operator.templates.api.uploads import SentTemplate, read_upload
from wfms.operator.templates.domain.errors import NoTrigger
from wfms.operator.templates.usecases.check_template import check_template
from wfms.operator.templates.usecases.compare_template import compare_template
from wfms.operator.templates.usecases.delete_template import delete_template
from wfms.operator.templates.usecases.disable_template import disable_template
from wfms.operator.templates.usecases.enable_template import enable_template
from wfms.operator.templates.usecases.find_trigger import find_trigger
from wfms.operator.templates.usecases.get_template import get_template
from wfms.operator.templates.usecases.list_templates import list_templates
from wfms.operator.templates.usecases.restore_template import restore_template
from wfms.operator.templates.usecases.share_template import share_template
from wfms.operator.templates.usecases.store_template import StoreOutcome, store_template


class ListQuery(Contract):
    """Which templates are listed.

    Attributes:
        all: Every version, not only the latest.
        disabled: Disabled templates, too.
    """

    all: bool = False
    disabled: bool = False


class VersionQuery(Contract):
    """Which version of a template is read; by default the latest."""

    version: int | None = None


class DeleteQuery(Contract):
    """How a template is deleted.

    Attributes:
        force: Delete it also while its chains run. The chains continue.
    """

    force: bool = False


class TemplateRoutes:
    """The routes of published templates."""

    def __init__(self, context: OperatorContext) -> None:
        self._context = context
        self._database = context.database

    def routes(self) -> list[Route]:
        """Return the declarations of the routes."""
        name = "/templates/<name>"
        return [
            Route("POST", "/templates", "store_template", self.store, SUBMITTERS,
                  "Store a template. If its latest version has the same files, the answer is 200.",
                  answer=Template, status=201, again=200, body=NewTemplate, read=read_upload,
                  uploads=True, errors=(Conflict, Unprocessable, RequestTooLarge)),
            Route("POST", "/templates/compare", "compare_template", self.compare, SUBMITTERS,
                  "Return what storing a template would change, without storing it.",
                  answer=TemplateChanges, body=NewTemplate, read=read_upload, uploads=True,
                  errors=(Unprocessable, RequestTooLarge)),
            Route("POST", "/templates/check", "check_template", self.check, SUBMITTERS,
                  "Check a template without storing it.",
                  answer=CheckedTemplate, body=CheckTemplate, errors=(RequestTooLarge,),
                  client=client_hints(flat_body=True)),
            Route("GET", "/templates", "list_templates",
                  self.list, policy(Role.VIEWER, CallingService.INTAKE),
                  "List the latest version of every enabled template with its CWL text, or every"
                  " version without texts.",
                  answer=TemplateList, query=ListQuery, read=is_service_request),
            Route("GET", name, "get_template", self.read, VIEWERS,
                  "Return a template with its files, as written and as one JSON document.",
                  answer=Template, query=VersionQuery, errors=(NotFound,)),
            Route("GET", name + "/trigger", "get_template_trigger", self.trigger, VIEWERS,
                  "Return the trigger of a template, with its last and next times.",
                  answer=TemplateTrigger, errors=(NotFound,)),
            Route("POST", name + "/restore", "restore_template", self.restore, SUBMITTERS,
                  "Make an old version the latest again. If it is the latest, the answer is 200.",
                  answer=Template, status=201, again=200, body=RestoreTemplate,
                  errors=(NotFound, Unprocessable),
                  client=client_hints(flat_body=True)),
            Route("POST", name + "/disable", "disable_template", self.disable, SHIFT_OR_OWNER,
                  "Disable a template, so that no data set goes through it. Running chains"
                  " continue.",
                  answer=Template, errors=(NotFound,)),
            Route("POST", name + "/enable", "enable_template", self.enable, SHIFT_OR_OWNER,
                  "Enable a template, so that new data sets are matched with it again.",
                  answer=Template, errors=(NotFound,)),
            Route("PUT", name + "/share", "share_template", self.share, SHIFT_OR_OWNER,
                  "Set the owner group of a template, and the other groups that see it. Others no"
                  " longer see it.",
                  answer=Template, body=Share, errors=(NotFound,)),
            Route("DELETE", name, "delete_template", self.delete, SHIFT_OR_OWNER,
                  "Delete all versions of a template, so that they match nothing. Running chains"
                  " continue.",
                  status=204, query=DeleteQuery, errors=(NotFound, Conflict, NotAvailable)),
        ]  # fmt: skip

    async def store(self, body: SentTemplate) -> RouteResponse:
        """Store a template, or return the latest version if it has the same files."""
        stored = await store_template(
            self._context,
            body.files,
            name=body.name,
            template_id=uuid4(),
            replaces=body.replaces,
            group=body.group,
        )
        return _respond(stored)

    async def compare(self, body: SentTemplate) -> TemplateChanges:
        """Return what storing a template would change."""
        return await compare_template(self._context, body.files, name=body.name)

    async def restore(self, name: str, body: RestoreTemplate) -> RouteResponse:
        """Make an old version the latest again."""
        stored = await restore_template(
            self._context, name, version=body.version, template_id=uuid4()
        )
        return _respond(stored)

    async def check(self, body: CheckTemplate) -> CheckedTemplate:
        """Return the findings about a template."""
        return await check_template(self._context.compiler, body)

    async def list(self, query: ListQuery, body: bool) -> TemplateList:
        """List templates.

        Args:
            query: The filters.
            body: A service asks. The intake polls this route and needs no CWL texts.
        """
        templates = await list_templates(
            self._database, every_version=query.all, disabled=query.disabled, text=not body
        )
        return TemplateList(templates=[template.contract(text=True) for template in templates])

    async def read(self, name: str, query: VersionQuery) -> Template:
        """Return a template with its files."""
        return (await get_template(self._database, name, version=query.version)).contract(
            with_files=True
        )

    async def trigger(self, name: str) -> TemplateTrigger:
        """Return when a template is triggered, and when it was.

        Raises:
            NoTrigger: The template has no trigger.
        """
        template = await get_template(self._database, name)
        trigger = await find_trigger(self._context, template)
        if trigger is None:
            raise NoTrigger(name)
        return trigger

    async def disable(self, name: str) -> Template:
        """Disable a template."""
        return (await disable_template(self._database, name)).contract()

    async def enable(self, name: str) -> Template:
        """Enable a template."""
        return (await enable_template(self._database, name)).contract()

    async def share(self, name: str, body: Share) -> Template:
        """Set the owner of a template and the groups that see it."""
        return (await share_template(self._database, name, body)).contract()

    async def delete(self, name: str, query: DeleteQuery) -> None:
        """Delete all versions of a template."""
        await delete_template(self._context, name, force=query.force)


def _respond(store_outcome: StoreOutcome) -> RouteResponse:
    return RouteResponse(
        store_outcome.template.contract(with_files=True),
        HTTPStatus.CREATED if store_outcome.new else HTTPStatus.OK,
    )
