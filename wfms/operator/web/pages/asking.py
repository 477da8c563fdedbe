"""``/asking``: progress of human task steps, and one step with its links and browsers."""

from collections.abc import Sequence
from datetime import UTC, datetime
from urllib.parse import quote, urljoin
from uuid import UUID

from flask import Response, current_app, flash, redirect, render_template, request, url_for
from pydantic import ValidationError
from werkzeug.wrappers import Response as AnyResponse

from sluice.clients.operator.asking import HumanStepKey
from sluice.contracts.access.access import Role
from sluice.contracts.common.problems import Conflict, NotFound, ServiceError
from sluice.contracts.common.states import DeviceState
from sluice.contracts.human_tasks.asking_watch import (
    AskDevice,
    AskLink,
    HumanStep,
    NewLink,
    SetDeviceState,
)
from wfms.operator.context import OperatorContext
from wfms.operator.http.access import may
from wfms.operator.http.bridge import Bridge
from wfms.operator.web.framework.page_routes import PageRoutes
from wfms.operator.web.framework.rendering import live
from wfms.operator.web.framework.wrong_form import wrong_form

_STEP = "/asking/<group>/<template>/<step>"
#: Maximum number of browsers on a page; the highest scores come first.
_MOST = 200


class AskingPages:
    """The pages of human task steps."""

    def __init__(self, context: OperatorContext, bridge: Bridge) -> None:
        self._ask = context.ask
        self._bridge = bridge

    def add_to(self, pages: PageRoutes) -> None:
        """Register the pages."""
        pages.get("/asking", "asking", self.list, Role.VIEWER)
        pages.get("/asking/live", "asking_live", self.list_live, Role.VIEWER)
        pages.get(_STEP, "asking_step", self.show, Role.VIEWER)
        pages.get(f"{_STEP}/live", "asking_step_live", self.live, Role.VIEWER)
        pages.post(f"{_STEP}/links", "make_ask_link", self.make_link, Role.SUBMITTER)
        pages.post(f"{_STEP}/links/<uuid:uid>/end", "end_ask_link", self.end_link, Role.SUBMITTER)
        pages.post(
            f"{_STEP}/devices/<uuid:uid>/standing",
            "set_standing",
            self.set_device_state,
            Role.SHIFT,
        )

    def _list(self) -> dict[str, object]:
        return {"steps": self._bridge.run(self._ask.asking_steps()).steps}

    def list(self) -> str:
        """Show the list of steps."""
        return render_template("asking.html", **self._list())

    def list_live(self) -> Response:
        """Return the current state of the list for a live update."""
        return live({"asking": "parts/asking.html"}, again=True, **self._list())

    def show(self, group: str, template: str, step: str) -> str:
        """Show one step."""
        return self._page(HumanStepKey(group, template, step))

    def live(self, group: str, template: str, step: str) -> Response:
        """Return the current state of one step for a live update."""
        parts = {"progress": "parts/asking_progress.html", "browsers": "parts/asking_devices.html"}
        return live(parts, again=True, **self._read(HumanStepKey(group, template, step)))

    def _page(
        self, of: HumanStepKey, *, refusal: ServiceError | None = None, made: AskLink | None = None
    ) -> str:
        """Render the page of a step.

        Args:
            of: The step.
            refusal: Why a form was refused.
            made: A new link, whose address is shown only this time.
        """
        now = datetime.now(UTC)
        links = []
        if may("make_ask_link"):
            links = self._bridge.run(self._ask.ask_links(of)).links
        return render_template(
            "asking_step.html",
            links=[link for link in links if link.opens(now)],
            ended=sum(not link.opens(now) for link in links),
            refusal=refusal,
            made=made,
            address_is_own="mine" in request.form,
            address=None if made is None else _address(made.url or ""),
            export=f"{of.path}/answers",
            file=quote(f"{of.template}.{of.step}.jsonl", safe=" ."),
            **self._read(of),
        )

    def _read(self, of: HumanStepKey) -> dict[str, object]:
        found, devices = self._bridge.run(self._now(of))
        return {"of": of, "asking": found, "devices": devices[:_MOST], "more": devices[_MOST:]}

    async def _now(self, of: HumanStepKey) -> tuple[HumanStep, Sequence[AskDevice]]:
        """Return the step and its browsers.

        Raises:
            NotFound: The step does not exist or does not ask people.
        """
        for found in (await self._ask.asking_steps()).steps:
            if (found.group, found.template, found.step) == of:
                return found, (await self._ask.ask_devices(of)).devices
        raise NotFound(f"no step {of.step} of template {of.template} asks people of {of.group}")

    def make_link(self, group: str, template: str, step: str) -> AnyResponse:
        """Create a link to the step's page and show it."""
        of = HumanStepKey(group, template, step)
        try:
            form = {"days": request.form.get("days", "1"), "mine": "mine" in request.form}
            made = self._bridge.run(self._ask.make_ask_link(of, NewLink.model_validate(form)))
        except ValidationError as error:
            return self._refused(of, wrong_form(error))
        except Conflict as refusal:
            return self._refused(of, refusal)
        return Response(self._page(of, made=made), status=201, mimetype="text/html")

    def _refused(self, of: HumanStepKey, refusal: ServiceError) -> AnyResponse:
        page = self._page(of, refusal=refusal)
        return Response(page, status=refusal.status, mimetype="text/html")

    def end_link(self, group: str, template: str, step: str, *, uid: UUID) -> AnyResponse:
        """End a link."""
        try:
            self._bridge.run(self._ask.end_ask_link(uid))
            flash("The link opens nothing any more.")
        except Conflict as refusal:
            flash(f"Nothing was changed: {refusal.detail}.")
        return _back(HumanStepKey(group, template, step))

    def set_device_state(self, group: str, template: str, step: str, *, uid: UUID) -> AnyResponse:
        """Exclude a browser, or let its answers count again."""
        try:
            new = SetDeviceState.model_validate(
                {
                    "standing": request.form.get("standing", ""),
                    "reason": request.form.get("reason", "").strip(),
                }
            )
            found = self._bridge.run(self._ask.set_device_state(uid, new))
            counts = "counts" if found.standing is DeviceState.COUNTED else "counts no more"
            flash(f"What browser {str(uid)[:8]} answered {counts}.")
        except ValidationError as error:
            wrong = "; ".join(finding.message for finding in wrong_form(error).findings)
            flash(f"Nothing was changed: {wrong}.")
        except Conflict as refusal:
            flash(f"Nothing was changed: {refusal.detail}.")
        return _back(HumanStepKey(group, template, step))


def _back(of: HumanStepKey) -> AnyResponse:
    where = url_for("pages.asking_step", group=of.group, template=of.template, step=of.step)
    return redirect(where, 303)


def _address(url: str) -> str:
    """Return the absolute URL; a relative one belongs to this host."""
    return urljoin(current_app.config["PUBLIC_URL"] or request.host_url, url)
