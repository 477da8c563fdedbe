"""``/chains/new``: the form that starts a chain."""

from flask import Response, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from sluice.contracts.access.access import Role
from sluice.contracts.chains.chains import RequestChain
from sluice.contracts.common.problems import Conflict, Finding, ServiceError, Unprocessable
from sluice.text.visible_text import quoted
from wfms.operator.chains.usecases.request_chain import request_chain
from wfms.operator.context import OperatorContext
from wfms.operator.errors import RequestRefused
from wfms.operator.http.bridge import Bridge
from wfms.operator.web.domain.start_form import Field, list_fields, read_values
from wfms.operator.web.framework.page_routes import PageRoutes
from wfms.operator.web.usecases.prepare_chain import StartPage, prepare_chain

#: Prefix of form fields with parameters.
_PREFIX = "param-"

_REPEATED = (
    "Nothing was started: this is the chain of the data set, this version of the template and these"
    " parameters."
)


class StartPages:
    """The page that starts chains."""

    def __init__(self, context: OperatorContext, bridge: Bridge) -> None:
        self._context = context
        self._bridge = bridge

    def add_to(self, pages: PageRoutes) -> None:
        """Register the pages."""
        pages.get("/chains/new", "new_chain", self.show, Role.SUBMITTER)
        pages.post("/chains/new", "start_chain", self.start, Role.SUBMITTER)

    def _prepare(self, dataset: str, template: str) -> StartPage:
        return self._bridge.run(
            prepare_chain(self._context, dataset=dataset.strip(), template=template)
        )

    def show(self) -> str:
        """Show the form."""
        prepared = self._prepare(request.args.get("dataset", ""), request.args.get("template", ""))
        fields = (
            list_fields(prepared.template.plan, prepared.metadata_values)
            if prepared.template is not None
            else []
        )
        return _render_page(prepared, fields=fields, typed_dataset=request.args.get("dataset", ""))

    def start(self) -> AnyResponse:
        """Start a chain. If it is refused, show the form with the values and the errors."""
        dataset, template = request.form.get("dataset", ""), request.form.get("template", "")
        prepared = self._prepare(dataset, template)
        if prepared.template is None or not prepared.ready:
            return Response(
                _render_page(prepared, fields=[], typed_dataset=dataset),
                status=422,
                mimetype="text/html",
            )
        typed = {
            key.removeprefix(_PREFIX): text
            for key, text in request.form.items()
            if key.startswith(_PREFIX)
        }
        values, problems = read_values(prepared.template.plan, typed)
        chain_request = RequestChain(
            dataset_uid=None if prepared.dataset is None else prepared.dataset.uid,
            template=prepared.template.name,
            params=values,
        )
        try:
            if problems:
                raise RequestRefused(problems)
            chain, is_new = self._bridge.run(request_chain(self._context, chain_request))
        except (Unprocessable, Conflict) as refusal:
            fields = list_fields(
                prepared.template.plan,
                prepared.metadata_values,
                typed=typed,
                findings=refusal.findings,
            )
            page = _render_page(prepared, fields=fields, typed_dataset=dataset, refusal=refusal)
            return Response(page, status=refusal.status, mimetype="text/html")
        flash("The chain is started." if is_new else _REPEATED)
        return redirect(url_for("pages.chain", uid=chain.uid), 303)


def _render_page(
    prepared: StartPage,
    *,
    fields: list[Field],
    typed_dataset: str,
    refusal: ServiceError | None = None,
) -> str:
    general: list[Finding] = []
    if refusal is not None:
        field_names = {field.name for field in fields if field.problem}
        general = [
            finding
            for finding in refusal.findings
            if not any(
                finding.message.startswith(f"parameter {quoted(name)} ") for name in field_names
            )
        ]
    return render_template(
        "new_chain.html",
        prepared=prepared,
        fields=fields,
        typed_dataset=typed_dataset,
        refusal=refusal,
        general=general,
        prefix=_PREFIX,
    )
