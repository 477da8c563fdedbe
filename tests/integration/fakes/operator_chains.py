"""The real chain service, and the operator tests' fake chain service with the same rows."""

from dataclasses import dataclass
from itertools import count
from typing import Any
from uuid import UUID

from sluice.clients.chains import ChainsClient
from sluice.contracts.chains.chains import Chain, NewChain
from sluice.contracts.common.states import ChainState, StepState
from sluice.contracts.templates.plan import Parameter, Plan
from tests.integration.operator.fakes.neighbours import Neighbours
from tests.integration.wfms.wfms_fixture import WfmsFixture
from tests.unit.wfms.chains.plans import make_three_steps

IN_PROGRESS, UPLOADING, FINISHED, FAILED, CANCELED = ChainState
PLAN = make_three_steps(parameters={"cut": Parameter(type="int", default=3)})
NAMES = (f"n{number}" for number in count())


@dataclass
class OperatorChains:
    """One of the two. All rows come from the real service; ``neighbours`` is the fake."""

    client: ChainsClient
    wfms: WfmsFixture
    neighbours: Neighbours | None

    async def request(self, plan: Plan = PLAN, **fields: Any) -> NewChain:
        """Return the request of a chain of a new data set and a new template."""
        dataset = await self.wfms.create_input(next(NAMES), **fields)
        template = self.wfms.add_template(plan, name=next(NAMES))
        if self.neighbours is not None:
            self.neighbours.datasets[dataset.uid] = dataset
        return self.wfms.make_request(dataset, template)

    async def chain(self, state: ChainState = IN_PROGRESS, **changes: Any) -> Chain:
        """Create a chain, bring it into the state, and give it to the fake."""
        request = (await self.request()).model_copy(update=changes)
        chain = await self.wfms.chains.create_chain(request)
        if state is not IN_PROGRESS:
            await self._set_state(chain.uid, state)
        return await self.copy(chain.uid)

    async def create_started_chain(self) -> Chain:
        """Return a chain whose first step has a task."""
        chain = await self.chain()
        await self.wfms.start_steps()
        await self.wfms.deliver_messages()
        return await self.copy(chain.uid)

    async def copy(self, uid: UUID) -> Chain:
        chain = await self.wfms.get_chain(uid)
        if self.neighbours is not None:
            self.neighbours.chains[uid] = chain
            self.neighbours.plans[chain.template_id] = PLAN
            statuses = self.wfms.wms.statuses
            sent = {step.task_uid for step in chain.steps} & statuses.keys()
            self.neighbours.tasks.update({uid: statuses[uid] for uid in statuses if uid in sent})
        return chain

    async def _set_state(self, uid: UUID, state: ChainState) -> None:
        ending = state if state in {FAILED, CANCELED} else None
        await self.wfms.fetch_rows(
            "wfms.chains",
            """UPDATE chains SET state = $2, ending = $3::text, reason = $4,
                upload_asked = $3::text IS NULL, ended_at = CASE WHEN $5 THEN now() END
            WHERE uid = $1""",
            uid,
            state,
            ending,
            f"it {state}" if ending else "",
            state.final,
        )
        await self.wfms.fetch_rows(
            "wfms.chains",
            """UPDATE steps SET state = $2, ended_at = now(),
                started_at = CASE WHEN $3 THEN now() END
            WHERE chain_uid = $1""",
            uid,
            StepState.CANCELED if ending else StepState.FINISHED,
            ending is None,
        )
