"""A fake chain service for tests of the operator service."""

from typing import Annotated
from uuid import UUID, uuid4

from fastapi import APIRouter, Query, Response

from sluice.contracts.chains.attention import (
    Acknowledge,
    Acknowledgement,
    AlreadyAcknowledged,
    ChainCounts,
)
from sluice.contracts.chains.chains import (
    Chain,
    ChainPage,
    ChainStep,
    ChainTask,
    ChainTaskList,
    NewChain,
    RerunChain,
    RerunPlan,
    RerunStep,
)
from sluice.contracts.common.key_values import metadata_filter
from sluice.contracts.common.problems import Conflict, NotFound, Unprocessable
from sluice.contracts.common.states import (
    ChainState,
    StepState,
    TaskState,
)
from sluice.contracts.jobs.tasks import (
    BY_REQUEST,
    Cancel,
    Prioritise,
    TaskStatus,
)
from tests.integration.operator.fakes.rows import CLOCK, Rows


def chain_routers(rows: Rows) -> list[APIRouter]:
    return [
        _making_routes(rows),
        _reading_routes(rows),
        _ending_routes(rows),
        _rerun_routes(rows),
        _task_routes(rows),
        _attention_routes(rows),
    ]


def _making_routes(rows: Rows) -> APIRouter:
    router = APIRouter(prefix="/api/v1")

    @router.post("/datasets", status_code=201)
    async def new_dataset(new: NewChain, response: Response) -> Chain:
        for request, existing_chain in zip(rows.requested, rows.created_chains, strict=True):
            if request == new:
                response.status_code = 200
                return existing_chain
        rows.requested.append(new)
        chain = Chain(
            uid=uuid4(),
            state=ChainState.IN_PROGRESS,
            template_id=new.template_id,
            template=new.template,
            template_version=new.template_version,
            dataset_uid=new.dataset.uid,
            dataset_name=new.dataset.name,
            params=new.params,
            rank=new.rank,
            created_at=CLOCK.now(),
            steps=[ChainStep(name=step.name, state=StepState.PENDING) for step in new.plan.steps],
            datasets=[],
        )
        rows.chains[chain.uid] = chain
        rows.created_chains.append(chain)
        return chain

    return router


def _reading_routes(rows: Rows) -> APIRouter:
    router = APIRouter(prefix="/api/v1")

    @router.get("/chains")
    async def chains(
        *,
        state: ChainState | None = None,
        dataset_uid: UUID | None = None,
        template: str | None = None,
        owner: str | None = None,
        meta: Annotated[list[str] | None, Query()] = None,
        attention: bool = False,
        ended: bool = False,
        uid: Annotated[list[UUID] | None, Query()] = None,
        limit: int = 1000,
        after: str | None = None,
    ) -> ChainPage:
        listed = [
            chain
            for chain in (rows.needed() if attention else list(rows.chains.values()))
            if (uid is None or chain.uid in uid) and (chain.ended_at is not None or not ended)
        ]
        chains_found = sorted(
            listed, key=lambda chain: (ended and chain.ended_at) or chain.created_at, reverse=True
        )
        chains_found = [
            chain
            for chain in chains_found
            if state in {None, chain.state}
            and dataset_uid in {None, chain.dataset_uid}
            and template in {None, chain.template}
            and owner in {None, chain.owner}
            and (meta is None or _has_metadata(rows, chain, meta))
        ]
        first = int(after or 0)
        more = len(chains_found) > first + limit
        return ChainPage(
            chains=chains_found[first : first + limit], after=str(first + limit) if more else None
        )

    @router.get("/chains/{uid}")
    async def chain(uid: UUID) -> Chain:
        return rows.chain(uid)

    return router


def _has_metadata(rows: Rows, chain: Chain, filters: list[str]) -> bool:
    metadata = rows.datasets[chain.dataset_uid].meta
    return metadata_filter(filters).items() <= metadata.items()


def _ending_routes(rows: Rows) -> APIRouter:
    router = APIRouter(prefix="/api/v1")

    @router.post("/chains/{uid}/cancel")
    async def cancel_chain(uid: UUID, body: Cancel = BY_REQUEST) -> Chain:
        return rows.cancel_chain(rows.chain(uid).uid, body)

    @router.post("/chains/{uid}/rank")
    async def rank_chain(uid: UUID, new: Prioritise) -> Chain:
        if rows.chain(uid).state is not ChainState.IN_PROGRESS:
            raise Conflict("its rank no longer matters")
        rows.chains[uid] = rows.chain(uid).model_copy(update={"rank": new.rank})
        return rows.chains[uid]

    @router.post("/chains/{uid}/discard")
    async def discard_chain(uid: UUID) -> Chain:
        chain = rows.chain(uid)
        rows.discarded.append(uid)
        rows.chains[uid] = chain.model_copy(update={"discarded": True})
        return rows.chains[uid]

    return router


def _plan_rerun(chain: Chain, request: RerunChain) -> RerunPlan:
    """Plan to take over the first step; its input is gone, so that it cannot run again."""
    names = [step.name for step in chain.steps]
    if not chain.state.final:
        raise Conflict(f"chain {chain.uid} has not ended")
    if request.from_step not in {None, *names}:
        raise Unprocessable(f"the chain has no step {request.from_step!r}")
    steps = [RerunStep(name=names[0], runs=False, reason="it finished")]
    steps += [
        RerunStep(
            name=name,
            runs=True,
            jobs=1 if request.failed_only else 60,
            taken=59 * request.failed_only,
            reason="it failed",
        )
        for name in names[1:]
    ]
    missing = ["its input has been deleted"] if request.from_step == names[0] else []
    return RerunPlan(
        chain_uid=chain.uid, steps=steps, params={**chain.params, **request.params}, missing=missing
    )


def _rerun_routes(rows: Rows) -> APIRouter:
    router = APIRouter(prefix="/api/v1")

    @router.post("/chains/{uid}/rerun/plan")
    async def plan_rerun(uid: UUID, request: RerunChain) -> RerunPlan:
        return _plan_rerun(rows.chains[uid], request)

    @router.post("/chains/{uid}/rerun", status_code=201)
    async def rerun(uid: UUID, request: RerunChain) -> Chain:
        if missing := _plan_rerun(rows.chains[uid], request).missing:
            raise Conflict(missing[0])
        rows.reruns.append(request)
        changes = {
            "uid": request.key,
            "rerun_of": uid,
            "state": ChainState.IN_PROGRESS,
            "ended_at": None,
            "reason": "",
        }
        taken = [step.model_copy(update={"taken_from": uid}) for step in rows.chains[uid].steps[:1]]
        chain = rows.chains[uid].model_copy(
            update={**changes, "steps": [*taken, *rows.chains[uid].steps[1:]]}
        )
        rows.chains[chain.uid] = chain
        return chain

    return router


def _task_routes(rows: Rows) -> APIRouter:
    router = APIRouter(prefix="/api/v1")

    @router.get("/tasks")
    async def tasks(
        *,
        chain_uid: UUID | None = None,
        state: StepState | None = None,
        limit: int = 1000,
        after: int = 0,
    ) -> ChainTaskList:
        listed = [
            row
            for row in rows.task_rows()
            if chain_uid in {None, row.chain_uid} and state in {None, row.state}
        ]
        more = after + limit < len(listed)
        tasks_page = listed[after : after + limit]
        return ChainTaskList(tasks=tasks_page, after=str(after + limit) if more else None)

    @router.get("/tasks/{uid}")
    async def task(uid: UUID) -> ChainTask:
        for row in rows.task_rows():
            if row.task_uid == uid:
                return row
        raise NotFound(f"there is no task {uid}")

    @router.post("/tasks/{uid}/cancel")
    async def cancel_task(uid: UUID, body: Cancel = BY_REQUEST) -> TaskStatus:
        rows.cancel_chain((await task(uid)).chain_uid, body)
        return rows.change(uid, state=TaskState.CANCELED, ended_at=CLOCK.now())

    @router.post("/tasks/{uid}/rank")
    async def prioritise(uid: UUID, request: Prioritise) -> TaskStatus:
        return rows.change(uid, rank=request.rank)

    return router


def _attention_routes(rows: Rows) -> APIRouter:
    router = APIRouter(prefix="/api/v1")

    @router.get("/counts")
    async def counts() -> ChainCounts:
        states = [chain.state for chain in rows.chains.values()]
        running, uploading = (
            states.count(ChainState.IN_PROGRESS),
            states.count(ChainState.UPLOADING),
        )
        return ChainCounts(in_progress=running, uploading=uploading, attention=len(rows.needed()))

    @router.post("/chains/{uid}/acknowledge")
    async def acknowledge(uid: UUID, request: Acknowledge) -> Chain:
        rows.on_acknowledge(uid)
        if (first := rows.chain(uid).acknowledged) and first.by != request.by:
            raise AlreadyAcknowledged(f"chain {uid}", first.by, first.at)
        rows.chains[uid] = rows.chains[uid].model_copy(
            update={"acknowledged": Acknowledgement(by=request.by, at=CLOCK.now())}
        )
        return rows.chains[uid]

    return router
