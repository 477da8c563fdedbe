"""``/asking``: progress of human task steps, and one step with its links and browsers."""

from collections.abc import Sequence
from datetime import UTC, datetime
from urllib.parse import quote, urljoin
from uuid import UUID

from flask import Response, current_app, flash, redirect, render_template, request, url_for
from pydantic import ValidationError
from werkzeug.wrappers import Response as AnyResponse

from sluice.clients.base import build_path
from sluice.clients.operator import HumanStepKey
from sluice.contracts.access.access import Role
from sluice.contracts.common.problems import Conflict, NotFound, ServiceError
from sluice.contracts.common.states import BrowserState
from sluice.contracts.human_tasks.supervision import (
    AskBrowser,
    AskLink,
    HumanStep,
    NewLink,
    SetBrowserState,
)
from wfms.operator.context import OperatorContext
from wfms.operator.http.access import may
from wfms.operator.http.bridge import Bridge
from wfms.operator.web.framework.form_errors import to_form_error
from wfms.operator.web.framework.navigation import Link, LinkGroup
from wfms.operator.web.framework.page_routes import PageRoutes
from wfms.operator.web.framework.rendering import live

_STEP = "/asking/<group>/<template>/<step>"
#: Maximum number of browsers on a page; the highest scores come first.
_MAX_BROWSERS = 200


class HumanTaskPages:
    """The pages of human task steps."""

    def __init__(self, context: OperatorContext, bridge: Bridge) -> None:
        self._ask = context.ask
        self._bridge = bridge

    def add_to(self, pages: PageRoutes) -> None:
        """Register the pages."""
        pages.get(
            "/asking",
            "human_tasks",
            self.list,
            Role.VIEWER,
            link=Link(LinkGroup.WORK, "Human tasks"),
        )
        pages.get("/asking/live", "human_tasks_live", self.list_live, Role.VIEWER)
        pages.get(_STEP, "human_task", self.show, Role.VIEWER, below="human_tasks")
        pages.get(f"{_STEP}/live", "human_task_live", self.live, Role.VIEWER)
        pages.post(
            f"{_STEP}/links",
            "create_ask_link",
            self.create_link,
            Role.SUBMITTER,
            below="human_tasks",
        )
        pages.post(f"{_STEP}/links/<uuid:uid>/end", "end_ask_link", self.end_link, Role.SUBMITTER)
        pages.post(
            f"{_STEP}/browsers/<uuid:uid>/state",
            "set_browser_state",
            self.set_browser_state,
            Role.SHIFT,
        )

    def _list(self) -> dict[str, object]:
        return {"steps": self._bridge.run(self._ask.list_human_steps()).steps}

    def list(self) -> str:
        """Show the list of steps."""
        return render_template("human_tasks.html", **self._list())

    def list_live(self) -> Response:
        """Return the current state of the list for a live update."""
        return live({"human-tasks": "parts/human_tasks.html"}, again=True, **self._list())

    def show(self, group: str, template: str, step: str) -> str:
        """Show one step."""
        return self._render_page(HumanStepKey(group, template, step))

    def live(self, group: str, template: str, step: str) -> Response:
        """Return the current state of one step for a live update."""
        parts = {
            "progress": "parts/human_task_progress.html",
            "browsers": "parts/human_task_browsers.html",
        }
        return live(parts, again=True, **self._read(HumanStepKey(group, template, step)))

    def _render_page(
        self,
        key: HumanStepKey,
        *,
        refusal: ServiceError | None = None,
        new_link: AskLink | None = None,
    ) -> str:
        """Render the page of a step.

        Args:
            key: The step.
            refusal: Why a form was refused.
            new_link: A new link, whose address is shown only this time.
        """
        now = datetime.now(UTC)
        links = []
        if may("create_ask_link"):
            links = self._bridge.run(self._ask.list_ask_links(*key)).links
        return render_template(
            "human_task.html",
            links=[link for link in links if link.opens(now)],
            ended=sum(not link.opens(now) for link in links),
            refusal=refusal,
            new_link=new_link,
            address_is_own="mine" in request.form,
            address=None if new_link is None else _build_address(new_link.url or ""),
            export=build_path("asking", "steps", *key, "answers"),
            file=quote(f"{key.template}.{key.step}.jsonl", safe=" ."),
            **self._read(key),
        )

    def _read(self, key: HumanStepKey) -> dict[str, object]:
        human_step, browsers = self._bridge.run(self._read_step(key))
        return {
            "key": key,
            "human_step": human_step,
            "browsers": browsers[:_MAX_BROWSERS],
            "more": browsers[_MAX_BROWSERS:],
        }

    async def _read_step(self, key: HumanStepKey) -> tuple[HumanStep, Sequence[AskBrowser]]:
        """Return the step and its browsers.

        Raises:
            NotFound: The step does not exist or does not ask people.
        """
        for human_step in (await self._ask.list_human_steps()).steps:
            if (human_step.group, human_step.template, human_step.step) == key:
                return human_step, (await self._ask.list_ask_browsers(*key)).browsers
        raise NotFound(
            f"template {key.template} of the group {key.group} has no human task {key.step}"
        )

    def create_link(self, group: str, template: str, step: str) -> AnyResponse:
        """Create a link to the step's page and show it."""
        key = HumanStepKey(group, template, step)
        try:
            form = {"days": request.form.get("days", "1"), "mine": "mine" in request.form}
            new_link = self._bridge.run(
                self._ask.create_ask_link(*key, NewLink.model_validate(form))
            )
        except ValidationError as error:
            return self._show_refusal(key, to_form_error(error))
        except Conflict as refusal:
            return self._show_refusal(key, refusal)
        return Response(self._render_page(key, new_link=new_link), status=201, mimetype="text/html")

    def _show_refusal(self, key: HumanStepKey, refusal: ServiceError) -> AnyResponse:
        page = self._render_page(key, refusal=refusal)
        return Response(page, status=refusal.status, mimetype="text/html")

    def end_link(self, group: str, template: str, step: str, *, uid: UUID) -> AnyResponse:
        """End a link."""
        try:
            self._bridge.run(self._ask.end_ask_link(uid))
            flash("The link is closed.")
        except Conflict as refusal:
            flash(f"Nothing was changed: {refusal.detail}.")
        return _redirect_back(HumanStepKey(group, template, step))

    def set_browser_state(self, group: str, template: str, step: str, *, uid: UUID) -> AnyResponse:
        """Exclude a browser, or let its answers count again."""
        try:
            new = SetBrowserState.model_validate(
                {
                    "state": request.form.get("state", ""),
                    "reason": request.form.get("reason", "").strip(),
                }
            )
            browser = self._bridge.run(self._ask.set_browser_state(uid, new))
            count = "count" if browser.state is BrowserState.COUNTED else "no longer count"
            flash(f"Answers of browser {str(uid)[:8]} {count}.")
        except ValidationError as error:
            problems = "; ".join(finding.message for finding in to_form_error(error).findings)
            flash(f"Nothing was changed: {problems}.")
        except Conflict as refusal:
            flash(f"Nothing was changed: {refusal.detail}.")
        return _redirect_back(HumanStepKey(group, template, step))


def _redirect_back(key: HumanStepKey) -> AnyResponse:
    where = url_for("pages.human_task", group=key.group, template=key.template, step=key.step)
    return redirect(where, 303)


def _build_address(url: str) -> str:
    """Return the absolute URL; a relative one belongs to this host."""
    return urljoin(current_app.config["PUBLIC_URL"] or request.host_url, url)
