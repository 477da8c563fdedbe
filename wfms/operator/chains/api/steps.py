"""``/api/v1/steps``: steps over all chains."""

from uuid import UUID

from sluice.contracts.common.problems import Conflict, NotAvailable, NotFound
from sluice.contracts.jobs.steps import SetStepPriority, StepList
from sluice.contracts.jobs.warm_workers import LoadTool
from wfms.operator.chains.usecases.load_tool import load_tool
from wfms.operator.chains.usecases.read_steps import read_steps, set_step_priority
from wfms.operator.context import OperatorContext
from wfms.operator.http.route import SHIFT, VIEWERS, Route


class StepRoutes:
    """The routes of steps."""

    def __init__(self, context: OperatorContext) -> None:
        self._context = context

    def routes(self) -> list[Route]:
        """Return the declarations of the routes."""
        return [
            Route("GET", "/steps", self.list, VIEWERS,
                  "Lists steps of published templates, and others that have tasks: how many jobs "
                  "wait, how long jobs take, and what people have set.",
                  answer=StepList, errors=(NotAvailable,)),
            Route("PUT", "/steps/<string:step>/priority", self.prioritise, SHIFT,
                  "Ranks a step against others over all chains: 0 or more is added to the rank of "
                  "its tasks; with -1 no job of it is given away, and what runs is finished.",
                  answer=StepList, body=SetStepPriority, errors=(NotFound, NotAvailable)),
            Route("PUT", "/pilots/<uuid:uid>/load", self.load, SHIFT,
                  "Has a pilot take jobs of a step before all others, so that its tool is loaded "
                  "there; of one that no template and no task has, it is refused.",
                  status=204, body=LoadTool, errors=(NotFound, Conflict, NotAvailable)),
        ]  # fmt: skip

    async def list(self) -> StepList:
        """List steps with their waiting jobs."""
        return await read_steps(self._context)

    async def prioritise(self, step: str, body: SetStepPriority) -> StepList:
        """Set the priority of a step."""
        return await set_step_priority(self._context, step, body)

    async def load(self, uid: UUID, body: LoadTool) -> None:
        """Let a pilot prefer the jobs of a step, so that it loads the tool of the step."""
        await load_tool(self._context, uid, body)
