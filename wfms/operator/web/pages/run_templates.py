"""``/run-templates``: one-off templates."""

from uuid import UUID

from flask import Response, flash, redirect, render_template, request, send_file, url_for
from werkzeug.wrappers import Response as AnyResponse

from sluice.contracts.access.access import Role
from wfms.operator.context import OperatorContext
from wfms.operator.http.bridge import Bridge
from wfms.operator.templates.domain.errors import RunTemplateUnknown
from wfms.operator.templates.domain.template import StoredTemplate
from wfms.operator.templates.usecases.run_templates.delete_run_template import delete_run_template
from wfms.operator.templates.usecases.run_templates.get_run_template import get_run_template
from wfms.operator.templates.usecases.run_templates.list_run_templates import list_run_templates
from wfms.operator.templates.usecases.zip_files import zip_files
from wfms.operator.web.domain.plan_drawing import draw
from wfms.operator.web.domain.source_listing import list_sources
from wfms.operator.web.framework.page_routes import PageRoutes

#: Templates on one page.
_PAGE = 50


class RunTemplatePages:
    """The pages of one-off templates."""

    def __init__(self, context: OperatorContext, bridge: Bridge) -> None:
        self._database = context.database
        self._bridge = bridge

    def add_to(self, pages: PageRoutes) -> None:
        """Register the pages."""
        path = "/run-templates/<uuid:template_id>"
        pages.get("/run-templates", "run_templates", self.list, Role.VIEWER, below="templates")
        pages.get(path, "run_template", self.show, Role.VIEWER, below="templates")
        pages.get(f"{path}/files", "run_template_files", self.download, Role.VIEWER)
        pages.post(f"{path}/delete", "delete_run_template", self.delete, Role.SUBMITTER)

    def _read(self, template_id: UUID) -> StoredTemplate:
        return self._bridge.run(get_run_template(self._database, template_id))

    def list(self) -> str:
        """Show the list of templates."""
        try:
            after = UUID(request.args["after"]) if "after" in request.args else None
            page = self._bridge.run(list_run_templates(self._database, limit=_PAGE, after=after))
        except (ValueError, RunTemplateUnknown):
            # The cursor is not valid: show the first page.
            page = self._bridge.run(list_run_templates(self._database, limit=_PAGE))
        return render_template("run_templates.html", templates=page.templates, next=page.after)

    def show(self, template_id: UUID) -> str:
        """Show one template."""
        template = self._read(template_id)
        listings = list_sources(template.files, template.main_path, findings=template.warnings)
        drawing = draw(template.plan)
        return render_template(
            "template.html",
            template=template,
            versions=[],
            waiting=0,
            drawing=drawing,
            listings=listings,
        )

    def download(self, template_id: UUID) -> Response:
        """Send all files of a template unchanged, as a zip archive."""
        template = self._read(template_id)
        name = f"{template.name}-run.zip"
        return send_file(
            zip_files(template.files),
            mimetype="application/zip",
            as_attachment=True,
            download_name=name,
        )

    def delete(self, template_id: UUID) -> AnyResponse:
        """Delete a template from the list."""
        template = self._read(template_id)
        self._bridge.run(delete_run_template(self._database, template_id))
        flash(f"{template.name} (run) is off the list.")
        return redirect(url_for("pages.run_templates"), 303)
