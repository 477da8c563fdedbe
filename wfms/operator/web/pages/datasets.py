"""``/datasets``: the list, one data set, and the data sets that match no template."""

from datetime import datetime
from uuid import UUID

from flask import flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from sluice.contracts.access.access import Role
from sluice.contracts.common.numbers import format_count
from sluice.contracts.common.problems import Conflict, NotFound
from sluice.contracts.common.states import DatasetState, DatasetType
from wfms.operator.chains.domain.takers import list_takers
from wfms.operator.chains.usecases.data.get_dataset_detail import get_dataset_detail
from wfms.operator.chains.usecases.data.share_dataset import share_dataset
from wfms.operator.chains.usecases.unmatched.list_current_ties import list_current_ties
from wfms.operator.chains.usecases.unmatched.review_unmatched import review_unmatched
from wfms.operator.context import OperatorContext
from wfms.operator.http.bridge import Bridge
from wfms.operator.web.framework.navigation import Link, LinkGroup
from wfms.operator.web.framework.page_routes import PageRoutes
from wfms.operator.web.framework.query_values import query_choice
from wfms.operator.web.framework.share_form import describe_visibility, read_share
from wfms.operator.web.usecases.get_file_detail import get_file_detail

#: Data sets on one page.
_PAGE = 50
_UNMATCHED = 25
#: Maximum number of data sets of the same name that the page of a data set links to.
_NAMESAKES = 5


class DatasetPages:
    """The pages of data sets."""

    def __init__(self, context: OperatorContext, bridge: Bridge) -> None:
        self._context = context
        self._bridge = bridge

    def add_to(self, pages: PageRoutes) -> None:
        """Register the pages."""
        pages.get(
            "/datasets", "datasets", self.list, Role.VIEWER, link=Link(LinkGroup.DATA, "Data sets")
        )
        pages.get("/datasets/<uuid:uid>", "dataset", self.show, Role.VIEWER, below="datasets")
        pages.get(
            "/datasets/<uuid:uid>/files/<int:file>",
            "file",
            self.file,
            Role.VIEWER,
            below="datasets",
        )
        pages.get(
            "/datasets/unmatched",
            "unmatched",
            self.unmatched,
            Role.VIEWER,
            link=Link(LinkGroup.DATA, "Unmatched"),
        )
        share = "/datasets/<uuid:uid>/share"
        pages.post(share, "share_dataset", self.share, Role.SHIFT, own=True)
        pages.post("/datasets/unmatched/match", "rematch", self.match, Role.SHIFT)
        pages.post("/datasets/unmatched/dismiss", "dismiss", self.dismiss, Role.SHIFT)

    def list(self) -> str:
        """Show the list of data sets."""
        state, kind = query_choice(DatasetState), query_choice(DatasetType, "type")
        states = list(DatasetState) if state is None else [state]
        after, name = request.args.get("after"), request.args.get("name") or None
        page = self._bridge.run(
            self._context.dms.list_datasets(
                state=states,
                name=name,
                after=after,
                type=kind,
                limit=_PAGE,
                newest=True,
                released=True,
            )
        )
        return render_template(
            "datasets.html",
            datasets=page.datasets,
            next=page.after if len(page.datasets) == _PAGE else None,
            state=state,
            kind=kind,
            name=name,
            states=list(DatasetState),
            kinds=list(DatasetType),
        )

    def show(self, uid: UUID) -> str:
        """Show one data set."""
        after = request.args.get("after")
        detail = self._bridge.run(get_dataset_detail(self._context, uid, after=after))
        return render_template("dataset.html", detail=detail, limit=_NAMESAKES)

    def share(self, uid: UUID) -> AnyResponse:
        """Set the owner of a data set and the groups that see it."""
        shared = self._bridge.run(share_dataset(self._context, uid, read_share()))
        flash(f"{shared.name} {describe_visibility(shared.group, shared.shared_with)}.")
        return redirect(url_for("pages.dataset", uid=uid), 303)

    def file(self, uid: UUID, file: int) -> str:
        """Show one file of a data set."""
        detail = self._bridge.run(get_file_detail(self._context, uid, file))
        return render_template("file.html", detail=detail)

    def unmatched(self) -> str:
        """Show the data sets that match no template."""
        template = request.args.get("template")
        unmatched_list = self._bridge.run(
            review_unmatched(self._context, limit=_UNMATCHED, template=template)
        )
        ties = self._bridge.run(list_current_ties(self._context))
        return render_template(
            "unmatched.html",
            unmatched_list=unmatched_list,
            ties=ties,
            template=template,
            takers=list_takers,
        )

    def match(self) -> AnyResponse:
        """Match the data set of the form again, or all if the form says so."""
        if request.form.get("all") == "yes":
            outcome = self._bridge.run(self._context.intake.rematch_all())
            deleted_text = (
                f" {format_count(outcome.gone, 'was', 'were', grouped=True)} deleted meanwhile."
                if outcome.gone
                else ""
            )
            flash(
                f"{format_count(outcome.matched, 'data set', grouped=True)} taken by a template,"
                f" {outcome.left} still unmatched.{deleted_text}"
            )
        elif (uid := _read_uid()) is not None:
            try:
                rematched = self._bridge.run(self._context.intake.rematch(dataset_uid=uid))
                flash(
                    f"Taken by {rematched.template}."
                    if rematched.template is not None
                    else f"Still unmatched: {rematched.reason}."
                )
            except (NotFound, Conflict) as refusal:
                flash(f"{refusal.detail[0].upper()}{refusal.detail[1:]}.")
        return redirect(url_for("pages.unmatched"), 303)

    def dismiss(self) -> AnyResponse:
        """Dismiss the form's ``dataset``, or all that were unmatched at the time ``until``."""
        if until := request.form.get("until"):
            try:
                dismissed = self._bridge.run(
                    self._context.intake.dismiss_all_unmatched(until=datetime.fromisoformat(until))
                ).dismissed
                sets = format_count(dismissed, "data set", grouped=True)
                flash(f"{sets} dismissed: nothing was deleted.")
            except ValueError:
                flash("Nothing was dismissed: load the page again.")
        elif (uid := _read_uid()) is not None:
            try:
                self._bridge.run(self._context.intake.dismiss_unmatched(uid))
                flash("The data set is no longer listed. It stays where it is.")
            except NotFound as refusal:
                flash(f"{refusal.detail[0].upper()}{refusal.detail[1:]}.")
        return redirect(url_for("pages.unmatched"), 303)


def _read_uid() -> UUID | None:
    try:
        return UUID(request.form.get("dataset", ""))
    except ValueError:
        flash("Nothing was chosen.")
        return None
