"""``/steps``: waiting jobs of each step over all chains, and priorities of steps."""

from flask import Response, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from sluice.contracts.access.access import Role
from sluice.contracts.common.numbers import in_full
from sluice.contracts.common.problems import NotFound
from sluice.contracts.jobs.steps import DISABLED, SetStepPriority
from wfms.operator.chains.usecases.steps.list_steps import list_steps
from wfms.operator.chains.usecases.steps.set_step_priority import set_step_priority
from wfms.operator.context import OperatorContext
from wfms.operator.http.bridge import Bridge
from wfms.operator.templates.usecases.list_templates import list_templates
from wfms.operator.web.framework.navigation import Link, LinkGroup
from wfms.operator.web.framework.page_routes import PageRoutes
from wfms.operator.web.framework.rendering import live


class StepPages:
    """The page of steps."""

    def __init__(self, context: OperatorContext, bridge: Bridge) -> None:
        self._context = context
        self._bridge = bridge

    def add_to(self, pages: PageRoutes) -> None:
        """Register the pages."""
        pages.get("/steps", "steps", self.list, Role.VIEWER, link=Link(LinkGroup.WORK, "Steps"))
        pages.get("/steps/live", "steps_live", self.list_live, Role.VIEWER)
        pages.post("/steps", "set_step", self.set, Role.SHIFT)

    def _read(self) -> dict[str, object]:
        """Read the data of the page.

        ``published`` has the names of templates that have a page. One-off templates have none: the
        WMS knows only their names.
        """
        return self._bridge.run(self._read_steps())

    async def _read_steps(self) -> dict[str, object]:
        loads = (await list_steps(self._context)).steps
        stored = await list_templates(self._context.database, disabled=True)
        return {"steps": loads, "published": {template.name for template in stored}}

    def list(self) -> str:
        """Show the list of steps."""
        return render_template("steps.html", **self._read())

    def list_live(self) -> Response:
        """Return the current list for a live update."""
        return live({"steps": "parts/steps.html"}, again=True, **self._read())

    def set(self) -> AnyResponse:
        """Set the priority of a step."""
        step = request.form.get("step", "")
        try:
            new = SetStepPriority.model_validate(
                {
                    "priority": float(
                        request.form.get("switch") or request.form.get("priority", "")
                    ),
                    "template": request.form.get("template") or None,
                    "reason": request.form.get("reason", ""),
                }
            )
            self._bridge.run(set_step_priority(self._context, step, new))
            flash(_describe_priority(step, new.priority))
        except ValueError:  # the text is not a number, or outside the limits
            flash(
                "Nothing was changed: a priority is a number from 0 to 1 000 000, or -1, which"
                " disables the step."
            )
        except NotFound as refusal:
            flash(f"Nothing was changed: {refusal.detail}.")
        return redirect(url_for("pages.steps"), 303)


def _describe_priority(step: str, priority: float) -> str:
    if priority == DISABLED:
        return f"Step {step} is disabled: its running jobs are finished, and no more are started."
    if priority == 0:
        return f"Step {step} runs by the rank of its tasks alone."
    return f"{in_full(priority)} is added to the rank of the tasks of step {step}."
