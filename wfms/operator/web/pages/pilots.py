"""``/pilots``: all pilots, and one pilot with its jobs and actions."""

from collections.abc import Awaitable, Callable
from uuid import UUID

from flask import Response, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from sluice.contracts.access.access import Role
from sluice.contracts.common.problems import Conflict
from sluice.contracts.common.states import PilotState
from sluice.contracts.jobs.warm_workers import LoadTool
from sluice.contracts.pilots.pilot_detail import PilotDetail
from wfms.operator.chains.domain.errors import StepUnknown
from wfms.operator.chains.usecases.steps.load_tool import load_tool
from wfms.operator.context import OperatorContext
from wfms.operator.http.bridge import Bridge
from wfms.operator.web.framework.navigation import Link, LinkGroup
from wfms.operator.web.framework.page_routes import PageRoutes
from wfms.operator.web.framework.rendering import live

#: Maximum number of pilots on the page of all.
_MAX_PILOTS = 200


class PilotPages:
    """The pages of pilots."""

    def __init__(self, context: OperatorContext, bridge: Bridge) -> None:
        self._context = context
        self._wms = context.wms
        self._bridge = bridge

    def add_to(self, pages: PageRoutes) -> None:
        """Register the pages."""
        pages.get(
            "/pilots", "pilots", self.list, Role.VIEWER, link=Link(LinkGroup.SYSTEM, "Pilots")
        )
        pages.get("/pilots/live", "pilots_live", self.list_live, Role.VIEWER)
        one = "/pilots/<uuid:uid>"
        pages.get(one, "pilot", self.show, Role.VIEWER, below="pilots")
        pages.get(f"{one}/live", "pilot_live", self.live, Role.VIEWER)
        pages.post(f"{one}/drain", "drain_pilot", self.drain, Role.SHIFT)
        pages.post(f"{one}/stop", "stop_pilot", self.stop, Role.SHIFT)
        pages.post(f"{one}/load", "load_tool", self.load, Role.SHIFT)
        pages.post(f"{one}/remove", "remove_pilot", self.remove, Role.SHIFT)

    def _list(self) -> dict[str, object]:
        pilot_list = self._bridge.run(self._wms.list_pilots(limit=_MAX_PILOTS))
        return {"pilots": pilot_list.pilots, "number": pilot_list.total}

    def list(self) -> str:
        """Show the list of pilots."""
        return render_template("pilots.html", **self._list())

    def list_live(self) -> Response:
        """Return the current list for a live update."""
        return live({"pilots": "parts/pilots.html"}, again=True, **self._list())

    def _read(self, uid: UUID) -> dict[str, PilotDetail]:
        return {"detail": self._bridge.run(self._wms.get_pilot(uid))}

    def show(self, uid: UUID) -> str:
        """Show one pilot."""
        return render_template("pilot.html", **self._read(uid))

    def live(self, uid: UUID) -> Response:
        """Return the current state of a pilot for a live update."""
        read = self._read(uid)
        parts = {"pilot": "parts/pilot.html", "actions": "parts/pilot_actions.html"}
        is_gone = read["detail"].pilot.state is PilotState.GONE
        return live(parts, again=not is_gone, **read)

    def drain(self, uid: UUID) -> AnyResponse:
        """Ask a pilot to finish its jobs and end."""
        return self._ask(uid, self._wms.drain_pilot, "It takes nothing more, and ends when done.")

    def stop(self, uid: UUID) -> AnyResponse:
        """Ask a pilot to stop its jobs, hand them back, and end."""
        return self._ask(
            uid, self._wms.stop_pilot, "It stops its jobs and ends; other pilots get them."
        )

    def load(self, uid: UUID) -> AnyResponse:
        """Let a pilot prefer the jobs of a step, or of none."""
        step = request.form.get("step", "").strip()[:200]
        message = (
            f"It finishes what it has; then jobs of {step} go to it before all others."
            if step
            else "Jobs go to it by their rank again."
        )
        return self._ask(
            uid,
            lambda pilot: load_tool(self._context, pilot, LoadTool(step=step or None)),
            message,
        )

    def remove(self, uid: UUID) -> AnyResponse:
        """Remove a pilot from the lists."""
        message = "It is no longer listed. The record of its jobs is kept."
        return self._ask(uid, self._wms.remove_pilot, message, to=url_for("pages.pilots"))

    def _ask(
        self, uid: UUID, ask: Callable[[UUID], Awaitable[None]], message: str, *, to: str = ""
    ) -> AnyResponse:
        here = url_for("pages.pilot", uid=uid)
        try:
            self._bridge.run(_wait(ask(uid)))
            flash(message)
        except (Conflict, StepUnknown) as refusal:
            flash(f"{refusal.detail[:1].upper()}{refusal.detail[1:]}.")
            return redirect(here, 303)
        return redirect(to or here, 303)


async def _wait(action: Awaitable[None]) -> None:
    await action
