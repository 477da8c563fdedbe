"""``/chains/new``: the form that starts a chain."""

from typing import Any

from flask import Response, flash, redirect, render_template, request, url_for
from pydantic import ValidationError
from werkzeug.wrappers import Response as AnyResponse

from sluice.contracts.access.access import Role
from sluice.contracts.chains.chains import RequestChain
from sluice.contracts.common.problems import Conflict, Finding, ServiceError, Unprocessable
from wfms.operator.chains.usecases.chains.request_chain import request_chain
from wfms.operator.context import OperatorContext
from wfms.operator.errors import RequestRefused
from wfms.operator.http.bridge import Bridge
from wfms.operator.web.domain.posted_values import check_values, read_values
from wfms.operator.web.domain.start_form import Field, list_fields, list_other_findings
from wfms.operator.web.framework.form_errors import to_form_error
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
        pages.get("/chains/new", "new_chain", self.show, Role.SUBMITTER, below="chains")
        pages.post("/chains/new", "start_chain", self.start, Role.SUBMITTER, below="chains")

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
        plan, known_values = prepared.template.plan, prepared.metadata_values
        values, problems = read_values(plan, typed, known_values)
        problems += check_values(plan, values, known_values=known_values, unreadable=problems)
        try:
            if problems:
                raise RequestRefused(problems)
            chain_request = _build_request(prepared, values)
            chain, is_new = self._bridge.run(request_chain(self._context, chain_request))
        except (Unprocessable, Conflict) as refusal:
            fields = list_fields(plan, known_values, typed=typed, findings=refusal.findings)
            page = _render_page(prepared, fields=fields, typed_dataset=dataset, refusal=refusal)
            return Response(page, status=refusal.status, mimetype="text/html")
        flash("The chain is started." if is_new else _REPEATED)
        return redirect(url_for("pages.chain", uid=chain.uid), 303)


def _build_request(start_page: StartPage, values: dict[str, Any]) -> RequestChain:
    """Return the request for a chain of the selection.

    Raises:
        Unprocessable: The values are too large or nested too deep.
    """
    try:
        return RequestChain(
            dataset_uid=None if start_page.dataset is None else start_page.dataset.uid,
            template="" if start_page.template is None else start_page.template.name,
            params=values,
        )
    except ValidationError as error:
        raise to_form_error(error) from error


def _render_page(
    start_page: StartPage,
    *,
    fields: list[Field],
    typed_dataset: str,
    refusal: ServiceError | None = None,
) -> str:
    general: list[Finding] = []
    if refusal is not None and start_page.template is not None:
        general = list_other_findings(start_page.template.plan, refusal.findings)
    return render_template(
        "new_chain.html",
        prepared=start_page,
        fields=fields,
        typed_dataset=typed_dataset,
        refusal=refusal,
        general=general,
        wrong=[inner for field in fields for inner in field.walk() if inner.problem],
        prefix=_PREFIX,
    )
