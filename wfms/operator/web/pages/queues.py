"""``/queues``: waiting messages, and dead letters to be requeued or deleted."""

from flask import Response, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from sluice.contracts.access.access import Role
from sluice.contracts.common.numbers import format_count
from sluice.contracts.common.problems import NotFound
from sluice.contracts.messaging.queue_status import MAX_BODY_PREVIEW, ChooseMessages, DeadMessages
from wfms.operator.context import OperatorContext
from wfms.operator.http.bridge import Bridge
from wfms.operator.web.framework.navigation import Link, LinkGroup
from wfms.operator.web.framework.page_routes import PageRoutes
from wfms.operator.web.framework.rendering import live

#: Maximum number of dead letters on a page; the oldest come first.
_MAX_DEAD_LETTERS = 100


class QueuePages:
    """The pages of message queues."""

    def __init__(self, context: OperatorContext, bridge: Bridge) -> None:
        self._queues = context.queues
        self._bridge = bridge

    def add_to(self, pages: PageRoutes) -> None:
        """Register the pages."""
        pages.get(
            "/queues", "queues", self.list, Role.VIEWER, link=Link(LinkGroup.SYSTEM, "Queues")
        )
        pages.get("/queues/live", "queues_live", self.list_live, Role.VIEWER)
        pages.get("/queues/<queue>", "queue", self.show, Role.ADMIN, below="queues")
        pages.post("/queues/<queue>/requeue", "requeue", self.requeue, Role.ADMIN)
        pages.post("/queues/<queue>/drop", "drop", self.drop, Role.ADMIN)

    def list(self) -> str:
        """Show the list of queues."""
        return render_template("queues.html", queues=self._bridge.run(self._queues.queues()).queues)

    def list_live(self) -> Response:
        """Return the current list for a live update."""
        return live(
            {"queues": "parts/queues.html"},
            again=True,
            queues=self._bridge.run(self._queues.queues()).queues,
        )

    def show(self, queue: str) -> str:
        """Show the dead letters of a queue."""
        dead_messages: DeadMessages = self._bridge.run(
            self._queues.dead(queue, limit=_MAX_DEAD_LETTERS)
        )
        return render_template("queue.html", dead_messages=dead_messages, shown=MAX_BODY_PREVIEW)

    def requeue(self, queue: str) -> AnyResponse:
        """Put dead letters back into the queue."""
        if (choice := _read_choice()) is not None:
            try:
                moved = self._bridge.run(self._queues.requeue(queue, choice)).moved
                flash(f"{format_count(moved, 'message', grouped=True)} put back into the queue.")
            except NotFound as refusal:
                flash(f"Nothing was put back: {refusal.detail}.")
        return redirect(url_for("pages.queue", queue=queue), 303)

    def drop(self, queue: str) -> AnyResponse:
        """Delete dead letters."""
        if (choice := _read_choice()) is not None:
            try:
                moved = self._bridge.run(self._queues.drop(queue, choice)).moved
                flash(f"{format_count(moved, 'message', grouped=True)} dropped permanently.")
            except NotFound as refusal:
                flash(f"Nothing was dropped: {refusal.detail}.")
        return redirect(url_for("pages.queue", queue=queue), 303)


def _read_choice() -> ChooseMessages | None:
    """Return the messages that the form chooses, or None if it chooses none."""
    ids = request.form.getlist("id")
    if request.form.get("all") == "yes":
        return ChooseMessages(ids="all")
    if not ids:
        flash("Nothing was chosen.")
        return None
    return ChooseMessages(ids=ids)
