"""``/templates``: the list, uploads, one template with its drawing, deleting."""

from uuid import uuid4

from flask import Blueprint, Response, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from sluice.contracts.problems import ServiceError, Unprocessable
from wfms.operator.api.bridge import Bridge
from wfms.operator.api.dependencies import Dependencies
from wfms.operator.api.rest.templates import Upload, read_form
from wfms.operator.domain.errors import TemplateInUse
from wfms.operator.domain.flow import draw
from wfms.operator.domain.listing import list_lines
from wfms.operator.usecases.delete_template import delete_template
from wfms.operator.usecases.read_template import list_templates, read_template, read_versions
from wfms.operator.usecases.store_template import Stored, store_template


class TemplatePages:
    def __init__(self, dependencies: Dependencies, bridge: Bridge) -> None:
        self._dependencies = dependencies
        self._database = dependencies.database
        self._bridge = bridge

    def add_to(self, pages: Blueprint) -> None:
        pages.add_url_rule("/templates", "templates", self.list)
        pages.add_url_rule("/templates", "upload", self.upload, methods=["POST"])
        pages.add_url_rule("/templates/<name>", "template", self.show)
        pages.add_url_rule("/templates/<name>/delete", "delete_template", self.delete, methods=["POST"])

    def list(self) -> str:
        templates = self._bridge.run(list_templates(self._database))
        return render_template("templates.html", templates=templates)

    def upload(self) -> AnyResponse:
        """A template that is refused is shown with every finding at its line, and stays in the form."""
        name, text = request.form.get("name", ""), request.form.get("cwl", "").replace("\r\n", "\n")
        try:
            upload = read_form()
            name, text = upload.template.name, upload.template.cwl
            stored = self._bridge.run(self._store(upload))
        except Unprocessable as refusal:
            return self._refused(refusal, name, text)
        version = f"version {stored.template.version}"
        flash(f"Stored as {version}." if stored.new else f"This very text is {version} already; nothing was changed.")
        return redirect(url_for("pages.template", name=stored.template.name), 303)

    async def _store(self, upload: Upload) -> Stored:
        compiler = self._dependencies.compiler
        return await store_template(self._database, compiler, upload.template, template_id=uuid4(), file=upload.file)

    def _refused(self, refusal: ServiceError, name: str, text: str) -> Response:
        page = render_template(
            "refused.html",
            refusal=refusal,
            name=name,
            text=text,
            listing=list_lines(text, refusal.findings, fold=True) if text.strip() else None,
        )
        return Response(page, status=refusal.status, mimetype="text/html")

    def show(self, name: str) -> str:
        number = request.args.get("version", type=int)
        versions = self._bridge.run(read_versions(self._database, name))
        template = self._bridge.run(read_template(self._database, name, version=number, deleted=True))
        return render_template(
            "template.html",
            template=template,
            versions=versions,
            drawing=draw(template.plan),
            listing=list_lines(template.text, template.warnings),
        )

    def delete(self, name: str) -> AnyResponse:
        force = request.form.get("force") == "yes"
        try:
            self._bridge.run(delete_template(self._database, self._dependencies.chains, name, force=force))
        except TemplateInUse as refusal:
            page = render_template("confirm_delete.html", name=name, refusal=refusal)
            return Response(page, status=refusal.status, mimetype="text/html")
        flash(f"Template {name} is deleted: it matches no data set any more.")
        return redirect(url_for("pages.templates"), 303)
