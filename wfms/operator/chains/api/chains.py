"""``/api/v1/chains``: the routes that need more than forwarding to the chain service."""

from uuid import UUID

from pydantic import Field

from sluice.contracts.chains.chains import (
    Chain,
    ChainListState,
    ChainOutputs,
    ChainPage,
    RequestChain,
    RerunChain,
    RerunPlan,
)
from sluice.contracts.common.base import Page
from sluice.contracts.common.key_values import MAX_FILTERED_KEYS
from sluice.contracts.common.labels import select_dataset
from sluice.contracts.common.problems import Conflict, NotAvailable, NotFound, Unprocessable
from sluice.contracts.data.partial import PartialOutputs
from sluice.servicekit.access.policy import SUBMITTERS, VIEWERS
from sluice.servicekit.web.openapi import client_hints
from wfms.operator.chains.usecases.chains.add_upload_waits import add_upload_waits
from wfms.operator.chains.usecases.chains.get_outputs import get_outputs
from wfms.operator.chains.usecases.chains.get_partial_outputs import get_partial_outputs
from wfms.operator.chains.usecases.chains.request_chain import request_chain
from wfms.operator.chains.usecases.chains.request_rerun import request_rerun
from wfms.operator.chains.usecases.chains.request_rerun_plan import request_rerun_plan
from wfms.operator.context import OperatorContext
from wfms.operator.http.route import Route, RouteResponse


class ChainListRequest(Page):
    """Which chains are listed. A chain has to match all given filters."""

    state: ChainListState | None = Field(
        None, description="Only chains in this state. `incomplete`: finished although jobs failed."
    )
    dataset_uid: UUID | None = Field(None, description="Only chains with this input.")
    name: str | None = Field(
        None, description="Only chains whose input has this name, which must be unambiguous."
    )
    template: str | None = Field(None, description="Only chains of this template, in any version.")
    owner: str | None = Field(None, description="Only chains of this account.")
    meta: list[str] = Field(
        [],
        max_length=MAX_FILTERED_KEYS,
        description="KEY=VALUE of the input's metadata. The value is JSON, or else text. All"
        " given values must match.",
    )


class ChainRoutes:
    """The routes of chains that are not forwarded."""

    def __init__(self, context: OperatorContext) -> None:
        self._context = context
        self._chains = context.chains
        self._dms = context.dms

    def routes(self) -> list[Route]:
        """Return the declarations of the routes."""
        uid = "/chains/<uuid:uid>"
        return [
            Route("GET", "/chains", "list_chains", self.list, VIEWERS,
                  "List chains that match all filters, newest first.",
                  answer=ChainPage, query=ChainListRequest,
                  errors=(Conflict, Unprocessable, NotAvailable)),
            Route("POST", "/chains", "request_new_chain", self.request, SUBMITTERS,
                  "Start a chain for a data set and a template (201). A repetition with the same"
                  " template version and parameters returns the first chain (200).",
                  answer=Chain, status=201, again=200, body=RequestChain,
                  errors=(NotFound, Conflict, Unprocessable, NotAvailable),
                  client=client_hints(returns_created=True)),
            Route("GET", uid, "get_chain", self.read, VIEWERS,
                  "Return a chain with its steps and data sets. If its upload waits, the reason"
                  " says why.",
                  answer=Chain, errors=(NotFound, NotAvailable)),
            Route("GET", uid + "/outputs", "list_outputs", self.outputs, VIEWERS,
                  "List the workflow outputs of a chain, each with its data set.",
                  answer=ChainOutputs, errors=(NotFound, NotAvailable)),
            Route("GET", uid + "/partial", "list_partial_outputs", self.partial, VIEWERS,
                  "List the outputs and logs of the steps of a chain. Missing ones have a reason.",
                  answer=PartialOutputs, errors=(NotFound, NotAvailable)),
            Route("POST", uid + "/rerun/plan", "plan_rerun", self.plan_rerun, SUBMITTERS,
                  "Return the plan of a rerun of a chain.",
                  answer=RerunPlan, body=RerunChain, errors=(NotFound, Conflict, NotAvailable)),
            Route("POST", uid + "/rerun", "rerun_chain", self.rerun, SUBMITTERS,
                  "Rerun an ended chain as a new chain (201). A repetition returns the first"
                  " rerun (200).",
                  answer=Chain, status=201, again=200, body=RerunChain,
                  errors=(NotFound, Conflict, NotAvailable),
                  client=client_hints(returns_created=True)),
        ]  # fmt: skip

    async def list(self, query: ChainListRequest) -> ChainPage:
        """List chains."""
        dataset = query.dataset_uid
        if query.name is not None:
            candidates = await self._dms.list_datasets_by_name(query.name)
            input_dataset = select_dataset(
                query.name,
                [candidate for candidate in candidates if dataset in {None, candidate.uid}],
            )
            if input_dataset is None:
                return ChainPage(chains=[], after=None)
            dataset = input_dataset.uid
        return await self._chains.list_chains(
            state=query.state,
            dataset_uid=dataset,
            template=query.template,
            owner=query.owner,
            meta=query.meta,
            after=query.after,
            limit=query.limit,
        )

    async def request(self, body: RequestChain) -> RouteResponse:
        """Start a chain, or return the chain of an equal earlier request."""
        chain, is_new = await request_chain(self._context, body)
        return RouteResponse(chain, 201 if is_new else 200)

    async def read(self, uid: UUID) -> Chain:
        """Return a chain, with the reasons why its upload waits."""
        chain = await self._chains.get_chain(uid)
        return await add_upload_waits(self._dms, chain)

    async def outputs(self, uid: UUID) -> ChainOutputs:
        """List the outputs of a chain."""
        chain, outputs = await get_outputs(self._context, uid)
        return ChainOutputs(chain=chain, outputs=outputs)

    async def partial(self, uid: UUID) -> PartialOutputs:
        """List what the steps of a chain have written so far."""
        return await get_partial_outputs(self._context, uid)

    async def plan_rerun(self, uid: UUID, body: RerunChain) -> RerunPlan:
        """Return what a rerun of a chain would do."""
        return await request_rerun_plan(self._context, uid, body)

    async def rerun(self, uid: UUID, body: RerunChain) -> RouteResponse:
        """Rerun a chain, or return the chain of an equal earlier request."""
        chain, is_new = await request_rerun(self._context, uid, body)
        return RouteResponse(chain, 201 if is_new else 200)
