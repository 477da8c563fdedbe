"""``/tools``: the tool library, and workflows composed of its tools."""

from uuid import uuid4

from flask import Response, flash, redirect, render_template, request, url_for
from pydantic import ValidationError
from werkzeug.wrappers import Response as AnyResponse

from sluice.contracts.access.access import Role
from sluice.contracts.common.problems import NotFound, ServiceError, Unprocessable
from sluice.contracts.templates.tools import ComposeTools, NewTool
from sluice.text.visible_text import quoted
from wfms.operator.context import OperatorContext
from wfms.operator.http.bridge import Bridge
from wfms.operator.templates.domain.submitted_files import UNNAMED, SubmittedFiles
from wfms.operator.templates.usecases.drafts.save_draft import save_draft
from wfms.operator.templates.usecases.tools.compose_tools import compose_tools
from wfms.operator.templates.usecases.tools.get_tool import get_tool
from wfms.operator.templates.usecases.tools.list_tool_versions import list_tool_versions
from wfms.operator.templates.usecases.tools.list_tools import list_tools
from wfms.operator.templates.usecases.tools.remove_tool import remove_tool
from wfms.operator.templates.usecases.tools.store_tool import store_tool
from wfms.operator.web.framework.form_errors import to_form_error
from wfms.operator.web.framework.navigation import Link, LinkGroup
from wfms.operator.web.framework.page_routes import PageRoutes
from wfms.operator.web.framework.query_values import query_number


class ToolPages:
    """The pages of the tool library."""

    def __init__(self, context: OperatorContext, bridge: Bridge) -> None:
        self._context = context
        self._database = context.database
        self._bridge = bridge

    def add_to(self, pages: PageRoutes) -> None:
        """Register the pages."""
        pages.get(
            "/tools", "tools", self.list, Role.VIEWER, link=Link(LinkGroup.WORKFLOWS, "Tools")
        )
        pages.post("/tools", "store_tool", self.store, Role.SUBMITTER, below="tools")
        pages.post("/tools/compose", "compose", self.compose, Role.SUBMITTER, below="tools")
        pages.get("/tools/<name>", "tool", self.show, Role.VIEWER, below="tools")
        pages.post("/tools/<name>/remove", "remove_tool", self.remove, Role.SHIFT)

    def list(self) -> str:
        """Show the list of tools."""
        return self._render_page()

    def _render_page(self, refusal: ServiceError | None = None) -> str:
        """Render the list. After a refusal, the form keeps what was sent."""
        tools = self._bridge.run(list_tools(self._database))
        return render_template("tools.html", tools=tools, refusal=refusal, form=request.form)

    def _show_refusal(self, refusal: ServiceError) -> Response:
        return Response(self._render_page(refusal), status=refusal.status, mimetype="text/html")

    def store(self) -> AnyResponse:
        """Store a tool as its next version."""
        file = request.files.get("file")
        uploaded_text = (
            file.read().decode(errors="replace") if file is not None and file.filename else ""
        )
        text = uploaded_text or request.form.get("cwl", "").replace("\r\n", "\n")
        stem = (file.filename or "").rsplit(".", 1)[0] if file is not None else ""
        try:
            new = NewTool(name=request.form.get("name", "").strip() or stem, cwl=text)
            stored = self._bridge.run(store_tool(self._context, new))
        except ValidationError as error:
            return self._show_refusal(to_form_error(error))
        except Unprocessable as refusal:
            return self._show_refusal(refusal)
        version = f"version {stored.tool.version}"
        message = (
            f"Stored as {version}." if stored.new else f"The text is the same as in {version}."
        )
        flash(message)
        return redirect(url_for("pages.tool", name=stored.tool.name), 303)

    def compose(self) -> AnyResponse:
        """Compose a workflow as a draft and show it for review before it is published."""
        try:
            request_body = ComposeTools(
                name=request.form.get("name", "").strip(),
                tools=request.form.get("tools", "").replace(",", " ").split(),
                bind=_parse_bindings(request.form.get("bind", "")),
            )
            composition = self._bridge.run(compose_tools(self._context, request_body))
            submitted = SubmittedFiles({UNNAMED: composition.cwl})
            draft = self._bridge.run(
                save_draft(self._context, submitted, name=request_body.name, template_id=uuid4())
            )
        except ValidationError as error:
            return self._show_refusal(to_form_error(error))
        except (Unprocessable, NotFound) as refusal:
            return self._show_refusal(refusal)
        if not draft.new:
            flash(f"The text is the same as in version {draft.template.version}.")
            return redirect(url_for("pages.template", name=request_body.name), 303)
        return redirect(url_for("pages.review_template", draft=draft.template.id), 303)

    def show(self, name: str) -> str:
        """Show one version of a tool."""
        version = query_number("version")
        tool = self._bridge.run(get_tool(self._database, name, version=version))
        versions = self._bridge.run(list_tool_versions(self._database, name))
        return render_template("tool.html", tool=tool, versions=versions)

    def remove(self, name: str) -> AnyResponse:
        """Delete a tool, or one version of it."""
        version = request.form.get("version", type=int)
        self._bridge.run(remove_tool(self._database, name, version=version))
        flash(f"{name}{'' if version is None else f', version {version},'} was removed.")
        return redirect(url_for("pages.tools"), 303)


def _parse_bindings(text: str) -> dict[str, str]:
    """Parse text like ``one=asset:a two=asset:b``.

    Raises:
        Unprocessable: The text is not of this form.
    """
    bind = {}
    for word in text.replace(",", " ").split():
        name, equals, target = word.partition("=")
        if not (name and equals and target) or name in bind:
            raise Unprocessable(
                f"{quoted(word)}: give each parameter once, as PARAMETER=TARGET, such as"
                " config=asset:layout"
            )
        bind[name] = target
    return bind
