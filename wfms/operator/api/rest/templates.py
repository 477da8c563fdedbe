"""``/api/v1/templates``."""

from http import HTTPStatus
from uuid import uuid4

from flask import request
from pydantic import ValidationError
from werkzeug.exceptions import UnsupportedMediaType

from sluice.contracts.base import Contract
from sluice.contracts.problems import Conflict, Finding, NotAvailable, NotFound, Unprocessable
from sluice.contracts.templates import CheckedTemplate, CheckTemplate, NewTemplate, Template, TemplateList
from sluice.servicekit.database import Database
from wfms.operator.api.dependencies import Dependencies
from wfms.operator.api.rest.body import read_body
from wfms.operator.api.rest.route import Answered, Route, parse_json, refused
from wfms.operator.domain.errors import RequestRefused, TooLarge
from wfms.operator.usecases.check_template import check_template
from wfms.operator.usecases.compile_text import Compiler
from wfms.operator.usecases.delete_template import delete_template
from wfms.operator.usecases.read_template import list_templates, read_template
from wfms.operator.usecases.store_template import store_template

TEXT_TYPES = {"text/plain", "text/yaml", "application/yaml", "application/x-yaml", "application/cwl", "application/cwl+yaml"}


class ListQuery(Contract):
    """``all``: every version, not only the latest."""

    all: bool = False


class VersionQuery(Contract):
    version: int | None = None


class DeleteQuery(Contract):
    """``force``: also while chains of it run; they go on."""

    force: bool = False


class Upload(Contract):
    """A template, and the name of the file it came in, for the findings."""

    template: NewTemplate
    file: str = "workflow.cwl"


class TemplateRoutes:
    def __init__(self, dependencies: Dependencies) -> None:
        self._database: Database = dependencies.database
        self._compiler: Compiler = dependencies.compiler
        self._chains = dependencies.chains

    def routes(self) -> list[Route]:
        name = "/templates/<name>"
        return [
            Route("POST", "/templates", self.store, "Stores a template; 200 where its latest version has this very text.",
                  answer=Template, status=201, body=NewTemplate, read=read_upload, uploads=True,
                  errors=(Unprocessable, TooLarge)),
            Route("POST", "/templates/check", self.check, "Says what is wrong with a template, storing nothing.",
                  answer=CheckedTemplate, body=CheckTemplate, errors=(TooLarge,)),
            Route("GET", "/templates", self.list, "The latest version of every template.",
                  answer=TemplateList, query=ListQuery),
            Route("GET", name, self.read, "One template with its text, as written and as JSON.",
                  answer=Template, query=VersionQuery, errors=(NotFound,)),
            Route("DELETE", name, self.delete, "Deletes all versions: they match nothing any more; running chains go on.",
                  status=204, query=DeleteQuery, errors=(NotFound, Conflict, NotAvailable)),
        ]  # fmt: skip

    async def store(self, body: Upload) -> Answered:
        stored = await store_template(self._database, self._compiler, body.template, template_id=uuid4(), file=body.file)
        answer = stored.template.contract(whole=True)
        return Answered(answer, HTTPStatus.CREATED if stored.new else HTTPStatus.OK)

    async def check(self, body: CheckTemplate) -> CheckedTemplate:
        return await check_template(self._compiler, body)

    async def list(self, query: ListQuery) -> TemplateList:
        found = await list_templates(self._database, every_version=query.all)
        return TemplateList(templates=[template.contract() for template in found])

    async def read(self, name: str, query: VersionQuery) -> Template:
        return (await read_template(self._database, name, version=query.version)).contract(whole=True)

    async def delete(self, name: str, query: DeleteQuery) -> None:
        await delete_template(self._database, self._chains, name, force=query.force)


def read_upload() -> Upload:
    """A template sent as JSON (``NewTemplate``), as a form with a file or text in ``cwl`` and a ``name``, or as bare text with
    the name in the query. Raises ``RequestRefused``."""
    match request.mimetype:
        case "application/json":
            return Upload(template=parse_json(NewTemplate))
        case "multipart/form-data" | "application/x-www-form-urlencoded":
            return read_form()
        case media if media in TEXT_TYPES:
            return _upload(request.args.get("name", ""), read_body(), file="workflow.cwl")
        case _:
            raise UnsupportedMediaType(
                "send JSON with name and cwl, a form with the file in cwl, or the text itself as text/plain"
            )


def read_form() -> Upload:
    """Fields ``cwl`` or ``file`` (a file) or ``cwl`` (text), and ``name`` (by default the file's name without its ending)."""
    uploaded = next((file for file in request.files.values() if file.filename), None)
    name = request.form.get("name", "").strip()
    if uploaded is None:
        return _upload(name, request.form.get("cwl", "").replace("\r\n", "\n").encode(), file="workflow.cwl")
    file = (uploaded.filename or "workflow.cwl").replace("\\", "/").rsplit("/", 1)[-1]
    return _upload(name or file.rsplit(".", 1)[0], uploaded.read(), file=file)


def _upload(name: str, data: bytes, *, file: str) -> Upload:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise RequestRefused([Finding(message="the file is not text in UTF-8", file=file, line=line, column=1)]) from error
    if not text.strip():
        raise RequestRefused([Finding(message="there is no text: choose a file or paste a workflow")])
    try:
        return Upload(template=NewTemplate(name=name, cwl=text), file=file)
    except ValidationError as error:
        raise refused("template", error) from error
