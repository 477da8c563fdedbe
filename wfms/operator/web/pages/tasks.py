"""``/tasks``: the list, one task with failures and actions, and a job with its log."""

from typing import Any
from uuid import UUID

from flask import Response, flash, redirect, render_template, request, url_for
from pydantic import ValidationError
from werkzeug.wrappers import Response as AnyResponse

from sluice.contracts.access.access import Role
from sluice.contracts.common.numbers import in_full
from sluice.contracts.common.problems import Conflict, Unprocessable
from sluice.contracts.common.states import JobState, StepState
from sluice.contracts.jobs.logs import FollowedLog
from sluice.contracts.jobs.tasks import Job, JobOrder, Prioritise
from wfms.operator.chains.domain.errors import LogUnknown
from wfms.operator.chains.domain.progress import find_shortfall
from wfms.operator.chains.usecases.steps.follow_log import follow_log
from wfms.operator.chains.usecases.steps.read_log import read_log
from wfms.operator.context import OperatorContext
from wfms.operator.http.bridge import Bridge
from wfms.operator.web.framework.navigation import Link, LinkGroup
from wfms.operator.web.framework.page_routes import PageRoutes
from wfms.operator.web.framework.query_values import query_choice, query_number
from wfms.operator.web.framework.rendering import live
from wfms.operator.web.usecases.get_task_detail import JobFilter, TaskDetail, get_task_detail

#: Tasks on one page of the list.
_PAGE = 100


class TaskPages:
    """The pages of tasks and jobs."""

    def __init__(self, context: OperatorContext, bridge: Bridge) -> None:
        self._context = context
        self._chains = context.chains
        self._wms = context.wms
        self._bridge = bridge

    def add_to(self, pages: PageRoutes) -> None:
        """Register the pages."""
        pages.get("/tasks", "tasks", self.list, Role.VIEWER, link=Link(LinkGroup.WORK, "Tasks"))
        pages.get("/tasks/live", "tasks_live", self.list_live, Role.VIEWER)
        pages.get("/tasks/<uuid:uid>", "task", self.show, Role.VIEWER, below="tasks")
        pages.get("/tasks/<uuid:uid>/live", "task_live", self.live, Role.VIEWER)
        pages.post("/tasks/<uuid:uid>/cancel", "cancel_task", self.cancel, Role.SHIFT, own=True)
        pages.post("/tasks/<uuid:uid>/retry", "retry_task", self.retry, Role.SHIFT, own=True)
        pages.post("/tasks/<uuid:uid>/rank", "rank_task", self.rank, Role.SHIFT)
        pages.get("/jobs/<int:job>", "job", self.job, Role.VIEWER, below="tasks")
        pages.get("/jobs/<int:job>/live", "job_live", self.job_live, Role.VIEWER)

    def _list(self) -> dict[str, object]:
        state, after = query_choice(StepState), request.args.get("after")
        try:
            page = self._bridge.run(self._chains.list_tasks(state=state, after=after, limit=_PAGE))
        except Unprocessable:
            # The cursor is not valid: show the first page.
            page = self._bridge.run(self._chains.list_tasks(state=state, limit=_PAGE))
        return {
            "tasks": page.tasks,
            "next": page.after,
            "state": state,
            "find_shortfall": find_shortfall,
        }

    def list(self) -> str:
        """Show the list of tasks."""
        states = [state for state in StepState if state is not StepState.PENDING]
        return render_template("tasks.html", states=states, **self._list())

    def list_live(self) -> Response:
        """Return the current list for a live update."""
        return live({"tasks": "parts/tasks.html"}, again=True, **self._list())

    def _read(self, uid: UUID) -> TaskDetail:
        state, order = query_choice(JobState), query_choice(JobOrder, "sort") or JobOrder.SEQ
        if state is not None and not state.final:
            order = JobOrder.SEQ
        return self._bridge.run(
            get_task_detail(
                self._context,
                uid,
                job_filter=JobFilter(state, order, request.args.get("after")),
            )
        )

    def show(self, uid: UUID) -> str:
        """Show one task."""
        return render_template("task.html", detail=self._read(uid))

    def live(self, uid: UUID) -> Response:
        """Return the current state of a task for a live update."""
        detail = self._read(uid)
        parts = {
            "task": "parts/task.html",
            "jobs": "parts/task_jobs.html",
            "actions": "parts/task_actions.html",
        }
        return live(parts, again=not detail.row.state.final, detail=detail)

    def cancel(self, uid: UUID) -> AnyResponse:
        """Cancel a task."""
        try:
            self._bridge.run(self._chains.cancel_task(uid))
            flash("The task is being canceled; its running jobs are stopped first.")
        except Conflict as refusal:
            flash(f"It cannot be canceled: {refusal.detail}.")
        return redirect(url_for("pages.task", uid=uid), 303)

    def retry(self, uid: UUID) -> AnyResponse:
        """Retry the failed and quarantined jobs of a task."""
        try:
            self._bridge.run(self._wms.retry_task(uid))
            flash("Its failed and quarantined jobs get another round.")
        except Conflict as refusal:
            flash(f"It cannot be retried: {refusal.detail}.")
        return redirect(url_for("pages.task", uid=uid), 303)

    def rank(self, uid: UUID) -> AnyResponse:
        """Set the rank of a task."""
        try:
            request_body = Prioritise.model_validate({"rank": request.form.get("rank", "")})
            status = self._bridge.run(self._chains.prioritise_task(uid, rank=request_body.rank))
            flash(f"The rank is {in_full(status.rank)} now.")
        except ValidationError:
            flash("The rank was not changed: it must be a number from 0 to 1 000 000.")
        except Conflict as refusal:
            flash(f"The rank was not changed: {refusal.detail}.")
        return redirect(url_for("pages.task", uid=uid), 303)

    def job(self, job: int) -> str:
        """Show a job with its log."""
        return render_template("job.html", **self._read_job(job))

    def job_live(self, job: int) -> Response:
        """Return the current state of a job for a live update."""
        read = self._read_job(job)
        parts = {
            "state": "parts/job_state.html",
            "attempts-table": "parts/job_attempts.html",
            "log-text": "parts/job_log.html",
        }
        return live(parts, again=not read["job"].state.final, **read)

    def _read_job(self, job: int) -> dict[str, Any]:
        """Read the data of the page. ``live_output`` has the output of a running job, by stream."""
        attempt = query_number("attempt")
        current_job, live_log = self._bridge.run(self._job_now(job))
        live_output = {
            name: stream.data.decode(errors="replace") for name, stream in live_log.streams.items()
        }
        if live_output and attempt in {None, live_log.attempt}:
            return {
                "job": current_job,
                "live_output": live_output,
                "attempt": live_log.attempt,
                "log": None,
                "trouble": "",
            }
        log, trouble = None, ""
        try:
            log = self._bridge.run(read_log(self._context, job, attempt=attempt))
        except LogUnknown as error:
            trouble = error.detail
        return {
            "job": current_job,
            "live_output": {},
            "attempt": attempt,
            "log": log,
            "trouble": trouble,
        }

    async def _job_now(self, job: int) -> tuple[Job, FollowedLog]:
        current_job = await self._wms.get_job(job)
        return current_job, await follow_log(self._context, job)
