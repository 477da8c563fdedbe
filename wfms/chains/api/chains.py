"""Routes that create, read, cancel, rank and discard chains, and delete data sets."""

from dataclasses import replace
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Query, Response, status

from sluice.contracts.access.access import Role
from sluice.contracts.access.services import CallingService
from sluice.contracts.chains.chains import Chain, ChainListState, ChainPage, NewChain
from sluice.contracts.common.key_values import MAX_FILTERED_KEYS, metadata_filter
from sluice.contracts.common.problems import Conflict, NotAvailable, NotFound, Unprocessable
from sluice.contracts.common.states import ChainState
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.jobs.tasks import BY_REQUEST, Cancel, Prioritise
from sluice.servicekit.access.policy import SHIFT, SHIFT_OR_OWNER, allow
from sluice.servicekit.access.principal_dependencies import CallerPerson, CallerVisibility
from sluice.servicekit.web.http import api_router, errors
from sluice.servicekit.web.openapi import client_hints
from wfms.chains.api.dependencies import Context, Wakes
from wfms.chains.db.reading import ChainQuery
from wfms.chains.usecases.chains.cancel_chain import cancel_chain
from wfms.chains.usecases.chains.create_chain import create_chain
from wfms.chains.usecases.chains.discard_chain import discard_chain
from wfms.chains.usecases.chains.get_chain import get_chain
from wfms.chains.usecases.chains.list_chains import list_chains
from wfms.chains.usecases.chains.rank_chain import rank_chain
from wfms.chains.usecases.data.delete_dataset import delete_dataset

Limit = Annotated[int, Query(ge=1, le=1000)]
MetaFilter = Annotated[
    list[str] | None,
    Query(
        max_length=MAX_FILTERED_KEYS,
        description="KEY=VALUE of the input's metadata. The value is JSON, or else text. All"
        " given values must match.",
    ),
]


async def _filters(
    *,
    state: ChainListState | None = None,
    dataset_uid: UUID | None = None,
    uses: UUID | None = None,
    template: str | None = None,
    owner: str | None = None,
    meta: MetaFilter = None,
) -> ChainQuery:
    incomplete = state is ChainListState.INCOMPLETE
    stored = ChainState.FINISHED if incomplete else None if state is None else ChainState(state)
    return ChainQuery(
        state=stored,
        incomplete=incomplete or None,
        dataset=dataset_uid,
        uses=uses,
        template=template,
        owner=owner,
        meta=metadata_filter(meta or []) or None,
    )


async def _query(
    filters: Annotated[ChainQuery, Depends(_filters)],
    *,
    uid: Annotated[list[UUID] | None, Query(max_length=100)] = None,
    attention: bool = False,
    ended: bool = False,
    limit: Limit = 50,
) -> ChainQuery:
    return replace(filters, uids=uid, attention=attention, ended=ended, limit=limit)


router = api_router("/api/v1", tags=["chains"])


@router.post(
    "/datasets",
    operation_id="create_new_chain",
    openapi_extra=client_hints(returns_created=True),
    status_code=status.HTTP_201_CREATED,
    responses={
        200: {"model": Chain},
        **errors(NotFound, Conflict, Unprocessable, NotAvailable),
    },
)
@allow(CallingService.OPERATOR, CallingService.INTAKE)
async def create_new_chain_route(
    context: Context, wakes: Wakes, *, new: NewChain, response: Response, by: CallerPerson
) -> Chain:
    """Carry a data set through a template.

    201 for a new chain, 200 with the first one for a repetition.
    """
    uid, created = await create_chain(context, new, by=by)
    if created:
        wakes.new_chain()
    else:
        response.status_code = status.HTTP_200_OK
    return await get_chain(context.database, uid)


@router.delete(
    "/datasets/{uid}",
    operation_id="delete_dataset",
    status_code=status.HTTP_202_ACCEPTED,
    responses=errors(NotFound, Conflict, NotAvailable),
)
@allow(CallingService.OPERATOR, gateway=SHIFT_OR_OWNER)
async def delete_dataset_route(
    context: Context,
    wakes: Wakes,
    *,
    uid: UUID,
    visibility: CallerVisibility,
    force: Annotated[
        bool,
        Query(
            description="Cancel chains that need the data set, and delete it even if"
            " it is an output."
        ),
    ] = False,
    taken_back: Annotated[
        bool, Query(description="The data set is a withdrawn version of an asset.")
    ] = False,
) -> Dataset:
    """Delete a data set that no chain needs. With `force`, cancel the chains that need it.

    Without `force`, the request is refused while chains that have not ended need the data set,
    and for outputs. With it, the data set is deleted when the last of these chains has ended. A
    data set that holds a version of an asset is always refused until that version is withdrawn.
    The request may be repeated.
    """
    dataset = await delete_dataset(
        context, uid, force=force, taken_back=taken_back, visibility=visibility
    )
    wakes.change()
    return dataset


@router.get("/chains", operation_id="list_chains", responses=errors(Unprocessable))
@allow(Role.VIEWER, CallingService.OPERATOR)
async def list_chains_route(
    context: Context,
    query: Annotated[ChainQuery, Depends(_query)],
    visibility: CallerVisibility,
    after: str | None = None,
) -> ChainPage:
    """List chains, newest first.

    `uid`: only these; `dataset_uid`: those with this input; `uses`: those that have it as their
    input or as a parameter value; `template`: those of any version of the template of this
    name; `owner`: those of this account; `meta`: those whose input has these values in its
    metadata; `attention`: those that failed and that nobody has acknowledged, discarded or run
    again, and those with a step that cannot continue; `ended`: instead, those that have ended,
    the last to end first, on one page.
    """
    return await list_chains(context.database, replace(query, visibility=visibility), after=after)


@router.get("/chains/{uid}", operation_id="get_chain", responses=errors(NotFound))
@allow(Role.VIEWER, CallingService.OPERATOR)
async def get_chain_route(context: Context, uid: UUID) -> Chain:
    """Return a chain with its steps and data sets."""
    return await get_chain(context.database, uid)


@router.post(
    "/chains/{uid}/cancel", operation_id="cancel_chain", responses=errors(NotFound, Conflict)
)
@allow(CallingService.OPERATOR, gateway=SHIFT_OR_OWNER)
async def cancel_chain_route(
    context: Context, wakes: Wakes, uid: UUID, body: Cancel = BY_REQUEST
) -> Chain:
    """Cancel a chain and its running tasks.

    The chain is canceled once these tasks have stopped. A chain that uploads its output is
    canceled at once, and outputs that are not safe on the output storage are deleted. Repeating
    it is fine; the first reason stays.
    """
    await cancel_chain(context.database, uid, reason=body.reason, withdraw=True)
    wakes.change()
    return await get_chain(context.database, uid)


@router.post("/chains/{uid}/discard", operation_id="discard_chain", responses=errors(NotFound))
@allow(CallingService.OPERATOR, gateway=SHIFT_OR_OWNER)
async def discard_chain_route(context: Context, wakes: Wakes, uid: UUID) -> Chain:
    """Delete all data of a chain, outputs included, once it has ended.

    The chain is not stopped. Repeating it is fine.
    """
    await discard_chain(context.database, uid)
    wakes.change()
    return await get_chain(context.database, uid)


@router.post(
    "/chains/{uid}/rank",
    operation_id="rank_chain",
    openapi_extra=client_hints(flat_body=True),
    responses=errors(NotFound, Conflict, NotAvailable),
)
@allow(CallingService.OPERATOR, gateway=SHIFT)
async def rank_chain_route(context: Context, uid: UUID, new: Prioritise) -> Chain:
    """Set the rank of a chain, which is added to the ranks of its steps.

    The new rank applies to running steps at once. A chain with no more steps to run is refused
    (409). Repeating it is fine.
    """
    await rank_chain(context, uid, new.rank)
    return await get_chain(context.database, uid)
