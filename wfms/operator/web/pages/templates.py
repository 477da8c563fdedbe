"""``/templates``: the list, uploads, one template with its drawing, and actions."""

from uuid import UUID, uuid4

from flask import Response, flash, redirect, render_template, request, send_file, url_for
from werkzeug.wrappers import Response as AnyResponse

from sluice.contracts.access.access import Role
from sluice.contracts.common.problems import ServiceError, Unprocessable
from sluice.contracts.templates.templates import split_main
from wfms.operator.chains.usecases.unmatched.count_waiting import count_waiting
from wfms.operator.context import OperatorContext
from wfms.operator.errors import MAX_NAMED
from wfms.operator.http.bridge import Bridge
from wfms.operator.templates.api.uploads import read_form
from wfms.operator.templates.domain.errors import (
    TemplateInUse,
    TemplateRefused,
    TemplateVersionConflict,
)
from wfms.operator.templates.domain.submitted_files import UNNAMED
from wfms.operator.templates.domain.template import StoredTemplate
from wfms.operator.templates.usecases.compare_with_latest import compare_with_latest
from wfms.operator.templates.usecases.delete_template import delete_template
from wfms.operator.templates.usecases.disable_template import disable_template
from wfms.operator.templates.usecases.drafts.publish_draft import publish_draft
from wfms.operator.templates.usecases.drafts.save_draft import save_draft
from wfms.operator.templates.usecases.enable_template import enable_template
from wfms.operator.templates.usecases.find_trigger import find_trigger
from wfms.operator.templates.usecases.get_template import get_template
from wfms.operator.templates.usecases.list_template_versions import list_template_versions
from wfms.operator.templates.usecases.list_templates import list_templates
from wfms.operator.templates.usecases.restore_template import restore_template
from wfms.operator.templates.usecases.run_templates.get_run_template import get_run_template
from wfms.operator.templates.usecases.share_template import share_template
from wfms.operator.templates.usecases.store_template import StoreOutcome
from wfms.operator.templates.usecases.zip_files import zip_files
from wfms.operator.web.domain.plan_drawing import draw
from wfms.operator.web.domain.source_listing import list_sources
from wfms.operator.web.framework.navigation import Link, LinkGroup
from wfms.operator.web.framework.page_routes import PageRoutes
from wfms.operator.web.framework.query_values import query_number
from wfms.operator.web.framework.share_form import describe_visibility, read_share


class TemplatePages:
    """The pages of published templates."""

    def __init__(self, context: OperatorContext, bridge: Bridge) -> None:
        self._context = context
        self._database = context.database
        self._bridge = bridge

    def add_to(self, pages: PageRoutes) -> None:
        """Register the pages."""
        pages.get(
            "/templates",
            "templates",
            self.list,
            Role.VIEWER,
            link=Link(LinkGroup.WORKFLOWS, "Templates"),
        )
        pages.post("/templates", "upload", self.upload, Role.SUBMITTER, below="templates")
        pages.get("/templates/<name>", "template", self.show, Role.VIEWER, below="templates")
        pages.get("/templates/<name>/files", "template_files", self.download, Role.VIEWER)
        pages.get(
            "/templates/review/<uuid:draft>",
            "review_template",
            self.review,
            Role.SUBMITTER,
            below="templates",
        )
        pages.post(
            "/templates/review/<uuid:draft>",
            "publish_template",
            self.publish,
            Role.SUBMITTER,
            below="templates",
        )
        pages.post(
            "/templates/<name>/restore",
            "restore_template",
            self.restore,
            Role.SUBMITTER,
            below="templates",
        )
        pages.post("/templates/<name>/share", "share_template", self.share, Role.SHIFT, own=True)
        pages.post(
            "/templates/<name>/disable", "disable_template", self.disable, Role.SHIFT, own=True
        )
        pages.post("/templates/<name>/enable", "enable_template", self.enable, Role.SHIFT, own=True)
        pages.post(
            "/templates/<name>/delete",
            "delete_template",
            self.delete,
            Role.SHIFT,
            own=True,
            below="templates",
        )

    def list(self) -> str:
        """Show the list of templates."""
        templates = self._bridge.run(list_templates(self._database, disabled=True))
        return render_template("templates.html", templates=templates)

    def upload(self) -> AnyResponse:
        """Store an upload as a draft and show it for review before it is published.

        A refused template is shown with each finding at its line. A text that was typed stays in
        the form.
        """
        name, text = request.form.get("name", ""), request.form.get("cwl", "").replace("\r\n", "\n")
        try:
            uploaded = read_form()
            name = uploaded.name
            draft = self._bridge.run(
                save_draft(
                    self._context,
                    uploaded.files,
                    name=name,
                    template_id=uuid4(),
                    group=uploaded.group,
                )
            )
        except Unprocessable as refusal:
            return self._show_refusal(refusal, name, text)
        if not draft.new:
            return self._redirect_to_template(
                draft, "The text is the same as in {}; nothing was changed."
            )
        return redirect(url_for("pages.review_template", draft=draft.template.id), 303)

    def review(self, draft: UUID) -> str:
        """Show a draft and what it would change."""
        return self._show_review(self._bridge.run(get_run_template(self._database, draft)))

    def _show_review(self, draft: StoredTemplate, trouble: str = "") -> str:
        """Render the review page. ``trouble``: why the draft was not published."""
        changes = self._bridge.run(compare_with_latest(self._database, draft))
        listings = list_sources(draft.files, draft.main_path, findings=changes.warnings)
        drawing = draw(draft.plan)
        return render_template(
            "review.html",
            template=draft,
            changes=changes,
            listings=listings,
            drawing=drawing,
            trouble=trouble,
        )

    def publish(self, draft: UUID) -> AnyResponse:
        """Publish a draft. If the template was changed in the meantime, show the review again."""
        template = self._bridge.run(get_run_template(self._database, draft))
        replaces = request.form.get("replaces", 0, type=int)
        try:
            stored = self._bridge.run(
                publish_draft(self._context, draft, replaces=replaces, template_id=uuid4())
            )
        except TemplateVersionConflict as overtaken:
            page = self._show_review(template, overtaken.detail)
            return Response(page, status=overtaken.status, mimetype="text/html")
        except Unprocessable as refusal:
            return self._show_refusal(refusal, template.name, "")
        return self._redirect_to_template(
            stored, "The text is the same as in {}; nothing was changed."
        )

    def _redirect_to_template(self, store_outcome: StoreOutcome, otherwise: str) -> AnyResponse:
        version = f"version {store_outcome.template.version}"
        flash(f"Published as {version}." if store_outcome.new else otherwise.format(version))
        return redirect(url_for("pages.template", name=store_outcome.template.name), 303)

    def _show_refusal(self, refusal: ServiceError, name: str, text: str) -> Response:
        texts, main = {UNNAMED: text} if text.strip() else {}, None
        if isinstance(refusal, TemplateRefused):
            texts = dict(refusal.texts)
            main, _ = split_main(refusal.main or "", texts)
        if len(texts) == 1:
            (text,) = texts.values()
        listings = list_sources(texts, main, findings=refusal.findings, fold=True)
        page = render_template(
            "refused.html", refusal=refusal, name=name, text=text, listings=listings
        )
        return Response(page, status=refusal.status, mimetype="text/html")

    def show(self, name: str) -> str:
        """Show one version of a template."""
        version = query_number("version")
        versions = self._bridge.run(list_template_versions(self._database, name))
        template = self._bridge.run(
            get_template(self._database, name, version=version, deleted=True)
        )
        waiting = 0
        if versions and template.version == versions[0].version:
            waiting = self._bridge.run(count_waiting(self._context, template))
        return render_template(
            "template.html",
            trigger=self._bridge.run(find_trigger(self._context, template)),
            waiting=waiting,
            template=template,
            versions=versions,
            drawing=draw(template.plan),
            listings=list_sources(template.files, template.main_path, findings=template.warnings),
        )

    def restore(self, name: str) -> AnyResponse:
        """Make an old version the latest again."""
        older = request.form.get("version", 0, type=int)
        try:
            stored = self._bridge.run(
                restore_template(self._context, name, version=older, template_id=uuid4())
            )
        except Unprocessable as refusal:
            return self._show_refusal(refusal, name, "")
        return self._redirect_to_template(
            stored, "The latest version, {}, has the same files; nothing was changed."
        )

    def download(self, name: str) -> Response:
        """Send all files of a template unchanged, as a zip archive."""
        template = self._bridge.run(
            get_template(self._database, name, version=query_number("version"), deleted=True)
        )
        name = f"{template.name}-{template.version}.zip"
        return send_file(
            zip_files(template.files),
            mimetype="application/zip",
            as_attachment=True,
            download_name=name,
        )

    def disable(self, name: str) -> AnyResponse:
        """Disable a template."""
        self._bridge.run(disable_template(self._database, name))
        flash(
            f"{name} is disabled: nothing goes through it until it is enabled. Chains that run"
            " continue."
        )
        return redirect(url_for("pages.template", name=name), 303)

    def enable(self, name: str) -> AnyResponse:
        """Enable a template.

        Its page then offers the data sets that it would have taken while it was disabled.
        """
        self._bridge.run(enable_template(self._database, name))
        flash(f"{name} is enabled: new data sets are matched with it.")
        return redirect(url_for("pages.template", name=name), 303)

    def share(self, name: str) -> AnyResponse:
        """Set the owner of a template and the groups that see it."""
        shared = self._bridge.run(share_template(self._database, name, read_share()))
        flash(f"{name} {describe_visibility(shared.group, shared.shared_with)}.")
        return redirect(url_for("pages.template", name=name), 303)

    def delete(self, name: str) -> AnyResponse:
        """Delete a template. If its chains run, ask for confirmation first."""
        force = request.form.get("force") == "yes"
        try:
            self._bridge.run(delete_template(self._context, name, force=force))
        except TemplateInUse as refusal:
            page = render_template(
                "confirm_delete.html", name=name, refusal=refusal, limit=MAX_NAMED
            )
            return Response(page, status=refusal.status, mimetype="text/html")
        flash(f"Template {name} is deleted: it no longer matches data sets.")
        return redirect(url_for("pages.templates"), 303)
