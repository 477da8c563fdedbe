"""``/api/v1/tasks``, also by the names of tasks, and the logs of jobs."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from sluice.contracts.chains.chains import ChainTaskList
from sluice.contracts.common.base import Contract
from sluice.contracts.common.bounds import NewText
from sluice.contracts.common.problems import NotAvailable, NotFound, Unprocessable
from sluice.contracts.common.states import StepState
from sluice.contracts.jobs.logs import FollowedLog
from sluice.servicekit.access.policy import VIEWERS
from wfms.operator.chains.usecases.steps.follow_log import follow_log
from wfms.operator.chains.usecases.steps.list_tasks_by_name import TaskSearch, list_tasks_by_name
from wfms.operator.chains.usecases.steps.read_log import read_log
from wfms.operator.context import OperatorContext
from wfms.operator.http.route import Route, RouteResponse


class TaskListRequest(Contract):
    """Which tasks are listed.

    Attributes:
        name: DATASET.STEP with the name of the chain's input. The result has no pages.
        state: State of the step.
        after: The ``after`` of the page before.
    """

    chain_uid: UUID | None = None
    name: NewText | None = None
    state: StepState | None = None
    after: str | None = None
    limit: Annotated[int, Field(ge=1, le=1000)] | None = None


class LogQuery(Contract):
    """Which log of a job is read.

    Attributes:
        attempt: By default the last attempt that has a log.
    """

    attempt: int | None = None


class TaskRoutes:
    """The routes of tasks and logs that are not forwarded."""

    def __init__(self, context: OperatorContext) -> None:
        self._context = context
        self._chains = context.chains

    def routes(self) -> list[Route]:
        """Return the declarations of the routes."""
        return [
            Route("GET", "/tasks", "list_tasks", self.list, VIEWERS,
                  "List tasks with their numbers of jobs, newest first. `name` is DATASET.STEP.",
                  answer=ChainTaskList, query=TaskListRequest,
                  errors=(Unprocessable, NotAvailable)),
            Route("GET", "/jobs/<int:job>/log", "read_log_preview", self.log, VIEWERS,
                  "Return the beginning and the end of a job's log, as text. `…/log/content` has"
                  " all of it.",
                  media="text/plain", query=LogQuery, errors=(NotFound, NotAvailable)),
            Route("GET", "/jobs/<int:job>/log/live", "get_live_log", self.live_log, VIEWERS,
                  "Return the end of the output of a running job, by stream, in Base64.",
                  answer=FollowedLog, errors=(NotFound, NotAvailable)),
        ]  # fmt: skip

    async def list(self, query: TaskListRequest) -> ChainTaskList:
        """List tasks."""
        if query.name is not None:
            search = TaskSearch(
                query.name,
                chain=query.chain_uid,
                state=query.state,
                limit=query.limit,
            )
            return await list_tasks_by_name(self._context, search)
        return await self._chains.list_tasks(
            chain_uid=query.chain_uid,
            state=query.state,
            after=query.after,
            limit=query.limit,
        )

    async def live_log(self, job: int) -> FollowedLog:
        """Return the end of the output of a running job."""
        return await follow_log(self._context, job)

    async def log(self, job: int, query: LogQuery) -> RouteResponse:
        """Return the beginning and the end of a job's log."""
        text = await read_log(self._context, job, attempt=query.attempt)
        return RouteResponse(text.text.encode(), content_type="text/plain; charset=utf-8")
