"""``/chains``: the list of chains, and one chain with its steps, data sets and actions."""

from uuid import UUID

from flask import Response, flash, redirect, render_template, request, url_for
from pydantic import ValidationError
from werkzeug.wrappers import Response as AnyResponse

from sluice.contracts.access.access import Role
from sluice.contracts.chains.chains import ChainListState
from sluice.contracts.common.numbers import in_full
from sluice.contracts.common.problems import Conflict, NotAvailable
from sluice.contracts.jobs.tasks import Prioritise
from wfms.operator.chains.usecases.chains.list_chains import ChainList, list_chains
from wfms.operator.context import OperatorContext
from wfms.operator.http.bridge import Bridge
from wfms.operator.web.framework.navigation import Link, LinkGroup
from wfms.operator.web.framework.page_routes import PageRoutes
from wfms.operator.web.framework.query_values import query_choice
from wfms.operator.web.framework.rendering import live
from wfms.operator.web.usecases.get_chain_detail import ChainDetail, get_chain_detail


class ChainPages:
    """The pages of chains."""

    def __init__(self, context: OperatorContext, bridge: Bridge) -> None:
        self._context = context
        self._bridge = bridge

    def add_to(self, pages: PageRoutes) -> None:
        """Register the pages."""
        pages.get("/chains", "chains", self.list, Role.VIEWER, link=Link(LinkGroup.WORK, "Chains"))
        pages.get("/chains/live", "chains_live", self.list_live, Role.VIEWER)
        pages.get("/chains/<uuid:uid>", "chain", self.show, Role.VIEWER, below="chains")
        pages.get("/chains/<uuid:uid>/live", "chain_live", self.live, Role.VIEWER)
        pages.post("/chains/<uuid:uid>/cancel", "cancel_chain", self.cancel, Role.SHIFT, own=True)
        pages.post("/chains/<uuid:uid>/rank", "rank_chain", self.rank, Role.SHIFT)
        pages.post(
            "/chains/<uuid:uid>/discard", "discard_chain", self.discard, Role.SHIFT, own=True
        )

    def _list(self) -> ChainList:
        return self._bridge.run(
            list_chains(
                self._context,
                state=query_choice(ChainListState),
                template=request.args.get("template") or None,
                after=request.args.get("after"),
            )
        )

    def list(self) -> str:
        """Show the list of chains."""
        return render_template(
            "chains.html",
            page=self._list(),
            state=query_choice(ChainListState),
            template=request.args.get("template") or None,
            states=list(ChainListState),
        )

    def list_live(self) -> Response:
        """Return the current list for a live update."""
        return live({"chains": "parts/chains.html"}, again=True, page=self._list())

    def _read(self, uid: UUID) -> ChainDetail:
        return self._bridge.run(get_chain_detail(self._context, uid))

    def show(self, uid: UUID) -> str:
        """Show one chain."""
        return render_template("chain.html", detail=self._read(uid))

    def live(self, uid: UUID) -> Response:
        """Return the current state of a chain for a live update."""
        detail = self._read(uid)
        parts = {
            name: f"parts/chain_{name}.html"
            for name in ("state", "results", "flow", "steps", "datasets", "actions")
        }
        return live(parts, again=not detail.progress.chain.state.final, detail=detail)

    def cancel(self, uid: UUID) -> AnyResponse:
        """Cancel a chain."""
        try:
            chain = self._bridge.run(self._context.chains.cancel_chain(uid))
            flash(
                "The chain is canceled."
                if chain.state.final
                else "The chain is being canceled; its running jobs are stopped first."
            )
        except Conflict as refusal:
            flash(f"It cannot be canceled: {refusal.detail}.")
        return redirect(url_for("pages.chain", uid=uid), 303)

    def rank(self, uid: UUID) -> AnyResponse:
        """Set the rank of a chain."""
        try:
            request_body = Prioritise.model_validate({"rank": request.form.get("rank", "")})
            chain = self._bridge.run(self._context.chains.rank_chain(uid, rank=request_body.rank))
            flash(f"{in_full(chain.rank)} is added to the ranks of its steps now.")
        except ValidationError:
            flash("The rank was not changed: it must be a number from 0 to 1 000 000.")
        except (Conflict, NotAvailable) as refusal:
            flash(f"Not everything was changed: {refusal.detail}.")
        return redirect(url_for("pages.chain", uid=uid), 303)

    def discard(self, uid: UUID) -> AnyResponse:
        """Delete all data of a chain."""
        self._bridge.run(self._context.chains.discard_chain(uid))
        flash("The data of the chain is being deleted.")
        return redirect(url_for("pages.chain", uid=uid), 303)
