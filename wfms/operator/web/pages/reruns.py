"""``/chains/<uid>/rerun``: the plan of a rerun, and its start."""

from collections.abc import Mapping
from dataclasses import replace
from uuid import UUID, uuid4

from flask import Response, flash, redirect, render_template, request, url_for
from pydantic import ValidationError
from werkzeug.wrappers import Response as AnyResponse

from sluice.contracts.access.access import Role
from sluice.contracts.chains.chains import RerunChain, RerunPlan
from sluice.contracts.common.problems import Conflict, Finding, ServiceError, Unprocessable
from wfms.operator.chains.usecases.chains.request_rerun import request_rerun
from wfms.operator.chains.usecases.chains.request_rerun_plan import request_rerun_plan
from wfms.operator.context import OperatorContext
from wfms.operator.errors import RequestRefused
from wfms.operator.http.bridge import Bridge
from wfms.operator.web.domain.posted_values import read_values
from wfms.operator.web.domain.start_form import Field, list_fields
from wfms.operator.web.framework.form_errors import to_form_error
from wfms.operator.web.framework.page_routes import PageRoutes
from wfms.operator.web.usecases.get_chain_detail import ChainDetail, get_chain_detail

#: Prefix of form fields with parameters.
_PREFIX = "param-"
#: Values of the form field ``what``: the name of a step has this prefix.
_STEP = "from:"
_FAILED = "failed"


class RerunPages:
    """The pages of reruns."""

    def __init__(self, context: OperatorContext, bridge: Bridge) -> None:
        self._context = context
        self._bridge = bridge

    def add_to(self, pages: PageRoutes) -> None:
        """Register the pages."""
        pages.get("/chains/<uuid:uid>/rerun", "rerun", self.show, Role.SUBMITTER, below="chains")
        pages.post(
            "/chains/<uuid:uid>/rerun", "start_rerun", self.start, Role.SUBMITTER, below="chains"
        )

    def show(self, uid: UUID) -> AnyResponse:
        """Show what a rerun of a chain would do."""
        detail = self._read(uid)
        try:
            plan = self._bridge.run(
                request_rerun_plan(self._context, uid, _read_form(detail, request.args))
            )
        except (Conflict, Unprocessable) as refusal:
            return _render_page(detail, request.args, None, refusal=refusal)
        return _render_page(detail, request.args, plan)

    def start(self, uid: UUID) -> AnyResponse:
        """Start a rerun."""
        detail = self._read(uid)
        try:
            rerun = _read_form(detail, request.form)
            chain, is_new = self._bridge.run(request_rerun(self._context, uid, rerun))
        except (Conflict, Unprocessable) as refusal:
            return _render_page(detail, request.form, None, refusal=refusal)
        flash(
            "The chain runs again, as this one."
            if is_new
            else "It was started before: as this chain."
        )
        return redirect(url_for("pages.chain", uid=chain.uid), 303)

    def _read(self, uid: UUID) -> ChainDetail:
        return self._bridge.run(get_chain_detail(self._context, uid))


def _read_form(detail: ChainDetail, form: Mapping[str, str]) -> RerunChain:
    """Return the rerun that a form asks for.

    Raises:
        RequestRefused: Fields are wrong.
        Unprocessable: The values are too large or nested too deep.
    """
    choice = form.get("what", "")
    values, problems = (
        ({}, [])
        if detail.template is None
        else read_values(
            detail.template.plan, _list_typed_values(form), detail.progress.chain.params
        )
    )
    try:
        key = UUID(form["key"]) if "key" in form else None
    except ValueError:
        problems = [*problems, Finding(message="the form's key is not valid: reload the page")]
        key = None
    if problems:
        raise RequestRefused(problems)
    step = choice.removeprefix(_STEP) if choice.startswith(_STEP) else None
    try:
        return RerunChain(from_step=step, failed_only=choice == _FAILED, params=values, key=key)
    except ValidationError as error:
        raise to_form_error(error) from error


def _list_typed_values(form: Mapping[str, str]) -> dict[str, str]:
    return {
        name.removeprefix(_PREFIX): text for name, text in form.items() if name.startswith(_PREFIX)
    }


def _build_fields(
    detail: ChainDetail, form: Mapping[str, str], findings: list[Finding]
) -> list[Field]:
    """Return the fields of the parameters. An empty field keeps the value of the chain."""
    if detail.template is None:
        return []
    fields = list_fields(
        detail.template.plan,
        detail.progress.chain.params,
        typed=_list_typed_values(form),
        findings=findings,
        source="",
    )
    return [replace(field, required=False) for field in fields]


def _render_page(
    detail: ChainDetail,
    form: Mapping[str, str],
    plan: RerunPlan | None,
    *,
    refusal: ServiceError | None = None,
) -> Response:
    fields = _build_fields(detail, form, [] if refusal is None else list(refusal.findings))
    page = render_template(
        "rerun.html",
        detail=detail,
        plan=plan,
        refusal=refusal,
        fields=fields,
        prefix=_PREFIX,
        what=form.get("what", ""),
        step_prefix=_STEP,
        failed=_FAILED,
        key=uuid4(),
        carried={
            name: text for name, text in form.items() if name.startswith(_PREFIX) or name == "what"
        },
    )
    return Response(page, status=200 if refusal is None else refusal.status, mimetype="text/html")
