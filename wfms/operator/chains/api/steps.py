"""``/api/v1/steps``: steps over all chains."""

from uuid import UUID

from sluice.contracts.common.problems import Conflict, NotAvailable, NotFound
from sluice.contracts.jobs.steps import SetStepPriority, StepList
from sluice.contracts.jobs.warm_workers import LoadTool
from sluice.servicekit.access.policy import SHIFT, VIEWERS
from wfms.operator.chains.usecases.steps.list_steps import list_steps
from wfms.operator.chains.usecases.steps.load_tool import load_tool
from wfms.operator.chains.usecases.steps.set_step_priority import set_step_priority
from wfms.operator.context import OperatorContext
from wfms.operator.http.route import Route


class StepRoutes:
    """The routes of steps."""

    def __init__(self, context: OperatorContext) -> None:
        self._context = context

    def routes(self) -> list[Route]:
        """Return the declarations of the routes."""
        return [
            Route("GET", "/steps", "list_steps", self.list, VIEWERS,
                  "List steps of published templates and other steps with tasks: waiting jobs,"
                  " mean times and priorities.",
                  answer=StepList, errors=(NotAvailable,)),
            Route("PUT", "/steps/<string:step>/priority", "prioritise_step", self.prioritise, SHIFT,
                  "Set the priority of a step over all chains. A priority of 0 or more is added"
                  " to the ranks of its tasks. With -1 no job of it is leased, and running jobs"
                  " finish.",
                  answer=StepList, body=SetStepPriority, errors=(NotFound, NotAvailable)),
            Route("PUT", "/pilots/<uuid:uid>/load", "load_tool", self.load, SHIFT,
                  "Let a pilot take jobs of a step first, to load the step's tool there. A step"
                  " that no template and no task has is refused.",
                  status=204, body=LoadTool, errors=(NotFound, Conflict, NotAvailable)),
        ]  # fmt: skip

    async def list(self) -> StepList:
        """List steps with their waiting jobs."""
        return await list_steps(self._context)

    async def prioritise(self, step: str, body: SetStepPriority) -> StepList:
        """Set the priority of a step."""
        return await set_step_priority(self._context, step, body)

    async def load(self, uid: UUID, body: LoadTool) -> None:
        """Let a pilot prefer the jobs of a step, so that it loads the tool of the step."""
        await load_tool(self._context, uid, body)
