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
    INCOMPLETE,
    Chain,
    ChainDataset,
    ChainListState,
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
from sluice.contracts.common.problems import Conflict, Unprocessable
from sluice.contracts.common.states import (
    ChainDatasetStatus,
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
from sluice.contracts.templates.parameters import find_problems
from tests.integration.operator.fakes.rows import CLOCK, Rows, cut_page
from wfms.chains.domain.identity import ChainKey, rerun_uid, task_uid
from wfms.chains.domain.parameters import complete
from wfms.chains.usecases.chains.acknowledge_chain import NothingToAcknowledge
from wfms.chains.usecases.chains.rank_chain import NoStepsLeft
from wfms.chains.usecases.chains.refusals import ChainRefused
from wfms.chains.usecases.reruns.rerun_chain import RerunDataMissing
from wfms.chains.usecases.reruns.rerun_draft import ChainNotEnded
from wfms.chains.usecases.steps.known_tasks import NoSuchTask


def make_chain_routers(rows: Rows) -> list[APIRouter]:
    return [
        _make_creation_routes(rows),
        _make_reading_routes(rows),
        _make_ending_routes(rows),
        _rerun_routes(rows),
        _make_task_routes(rows),
        _make_attention_routes(rows),
    ]


def _make_creation_routes(rows: Rows) -> APIRouter:
    router = APIRouter(prefix="/api/v1")

    @router.post("/datasets", status_code=201)
    async def new_dataset(new: NewChain, response: Response) -> Chain:
        uid = ChainKey.of(new).uid
        if uid in rows.chains:
            response.status_code = 200
            return rows.chains[uid]
        if problems := find_problems(new.plan, new.params):
            raise ChainRefused.of(new, problems)
        rows.requested.append(new)
        rows.plans[new.template_id] = new.plan
        chain = _make_chain(uid, new)
        rows.chains[uid] = chain
        return chain

    return router


def _make_chain(uid: UUID, new: NewChain) -> Chain:
    """Return a new chain, whose steps start if they read no other step."""
    steps = []
    for step in new.plan.steps:
        starts = all(source.step is None for source in step.sources)
        steps.append(
            ChainStep(
                name=step.name,
                state=StepState.STARTING if starts else StepState.PENDING,
                task_uid=task_uid(uid, step.name) if starts else None,
            )
        )
    own = ChainDataset(
        uid=new.dataset.uid,
        name=new.dataset.name,
        step=None,
        port=None,
        state=ChainDatasetStatus.READY,
    )
    return Chain(
        uid=uid,
        state=ChainState.IN_PROGRESS,
        template_id=new.template_id,
        template=new.template,
        template_version=new.template_version,
        dataset_uid=new.dataset.uid,
        dataset_name=new.dataset.name,
        params=complete(new.plan, new.params),
        rank=new.rank,
        owner=new.owner,
        group=new.group,
        created_at=CLOCK.now(),
        steps=steps,
        datasets=[own],
    )


def _make_reading_routes(rows: Rows) -> APIRouter:
    router = APIRouter(prefix="/api/v1")

    @router.get("/chains")
    async def chains(
        *,
        state: ChainListState | None = None,
        dataset_uid: UUID | None = None,
        uses: UUID | None = None,
        template: str | None = None,
        owner: str | None = None,
        meta: Annotated[list[str] | None, Query()] = None,
        attention: bool = False,
        ended: bool = False,
        uid: Annotated[list[UUID] | None, Query()] = None,
        limit: int = 50,
        after: str | None = None,
    ) -> ChainPage:
        chains_found = [
            chain
            for chain in (rows.needed() if attention else rows.chains.values())
            if (uid is None or chain.uid in uid)
            and (chain.ended_at is not None or not ended)
            and (state is None or _has_state(chain, state))
            and dataset_uid in {None, chain.dataset_uid}
            and (uses is None or uses in _list_inputs(chain))
            and template in {None, chain.template}
            and owner in {None, chain.owner}
            and (meta is None or _has_metadata(rows, chain, meta))
        ]
        chains_found.sort(
            key=lambda chain: (ended and chain.ended_at) or chain.created_at, reverse=True
        )
        page, last = cut_page(chains_found, after, limit)
        return ChainPage(chains=page, after=None if ended else last)

    @router.get("/chains/{uid}")
    async def chain(uid: UUID) -> Chain:
        return rows.chain(uid)

    return router


def _has_state(chain: Chain, state: ChainListState) -> bool:
    if state is ChainListState.INCOMPLETE:
        return chain.outcome == INCOMPLETE
    return chain.state == state.value


def _list_inputs(chain: Chain) -> set[UUID]:
    return {dataset.uid for dataset in chain.datasets if dataset.step is None}


def _has_metadata(rows: Rows, chain: Chain, filters: list[str]) -> bool:
    metadata = rows.datasets[chain.dataset_uid].meta
    return metadata_filter(filters).items() <= metadata.items()


def _make_ending_routes(rows: Rows) -> APIRouter:
    router = APIRouter(prefix="/api/v1")

    @router.post("/chains/{uid}/cancel")
    async def cancel_chain(uid: UUID, body: Cancel = BY_REQUEST) -> Chain:
        return rows.cancel_chain(uid, body)

    @router.post("/chains/{uid}/rank")
    async def rank_chain(uid: UUID, new: Prioritise) -> Chain:
        chain = rows.chain(uid)
        if chain.state is not ChainState.IN_PROGRESS or chain.reason:
            raise NoStepsLeft(uid, chain.state)
        rows.chains[uid] = chain.model_copy(update={"rank": new.rank})
        return rows.chains[uid]

    @router.post("/chains/{uid}/discard")
    async def discard_chain(uid: UUID) -> Chain:
        chain = rows.chain(uid)
        rows.discarded.append(uid)
        rows.chains[uid] = chain.model_copy(update={"discarded": True})
        return rows.chains[uid]

    return router


def _plan_rerun(rows: Rows, uid: UUID, request: RerunChain) -> RerunPlan:
    """Plan to take over the first step; its input is gone, so that it cannot run again."""
    chain = rows.chain(uid)
    names = [step.name for step in chain.steps]
    if not chain.state.final:
        raise ChainNotEnded(uid)
    if request.from_step not in {None, *names}:
        raise Unprocessable(f"the chain has no step {request.from_step!r}")
    params = {**chain.params, **request.params}
    if (plan := rows.plans.get(chain.template_id)) and (problems := find_problems(plan, params)):
        raise Unprocessable("the parameters do not fit", findings=problems)
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
    return RerunPlan(chain_uid=uid, steps=steps, params=params, missing=missing)


def _rerun_routes(rows: Rows) -> APIRouter:
    router = APIRouter(prefix="/api/v1")

    @router.post("/chains/{uid}/rerun/plan")
    async def plan_rerun(uid: UUID, request: RerunChain) -> RerunPlan:
        return _plan_rerun(rows, uid, request)

    @router.post("/chains/{uid}/rerun", status_code=201)
    async def rerun(uid: UUID, request: RerunChain, response: Response) -> Chain:
        new_uid = rerun_uid(uid, request.key or uuid4())
        if new_uid in rows.chains:
            response.status_code = 200
            return rows.chains[new_uid]
        plan = _plan_rerun(rows, uid, request)
        if plan.missing:
            raise RerunDataMissing(uid, tuple(plan.missing))
        rows.reruns.append(request)
        first, *others = rows.chains[uid].steps
        rows.chains[new_uid] = rows.chains[uid].model_copy(
            update={
                "uid": new_uid,
                "rerun_of": uid,
                "state": ChainState.IN_PROGRESS,
                "created_at": CLOCK.now(),
                "ended_at": None,
                "reason": "",
                "acknowledged": None,
                "discarded": False,
                "params": plan.params,
                "steps": [first.model_copy(update={"taken_from": uid}), *others],
            }
        )
        return rows.chains[new_uid]

    return router


def _make_task_routes(rows: Rows) -> APIRouter:
    router = APIRouter(prefix="/api/v1")

    @router.get("/tasks")
    async def tasks(
        *,
        chain_uid: UUID | None = None,
        state: StepState | None = None,
        limit: int = 200,
        after: str | None = None,
    ) -> ChainTaskList:
        listed = [
            row
            for row in rows.task_rows()
            if chain_uid in {None, row.chain_uid} and state in {None, row.state}
        ]
        page, last = cut_page(listed, after, limit)
        return ChainTaskList(tasks=page, after=last)

    @router.get("/tasks/{uid}")
    async def task(uid: UUID) -> ChainTask:
        for row in rows.task_rows():
            if row.task_uid == uid:
                return row
        raise NoSuchTask(uid)

    @router.post("/tasks/{uid}/cancel")
    async def cancel_task(uid: UUID, body: Cancel = BY_REQUEST) -> TaskStatus:
        await task(uid)
        match rows.task(uid).state:
            case TaskState.FINISHED | TaskState.FAILED as state:
                raise Conflict(f"task {uid} has already {state}", task=uid, state=state)
            case TaskState.CANCELED:
                return rows.task(uid)
        changes = {"state": TaskState.CANCELED, "ended_at": CLOCK.now(), "reason": body.reason}
        return rows.change(uid, **changes)

    @router.post("/tasks/{uid}/rank")
    async def prioritise(uid: UUID, request: Prioritise) -> TaskStatus:
        await task(uid)
        if (state := rows.task(uid).state).final:
            raise Conflict(f"task {uid} has already ended ({state})", task=uid, state=state)
        return rows.change(uid, rank=request.rank)

    return router


def _make_attention_routes(rows: Rows) -> APIRouter:
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
        chain = rows.chain(uid)
        if (first := chain.acknowledged) is not None:
            if first.by != request.by:
                raise AlreadyAcknowledged(f"chain {uid}", first.by, first.at)
            return chain
        if chain.state is not ChainState.FAILED and chain.outcome != INCOMPLETE:
            raise NothingToAcknowledge(uid, chain.state)
        rows.chains[uid] = chain.model_copy(
            update={"acknowledged": Acknowledgement(by=request.by, at=CLOCK.now())}
        )
        return rows.chains[uid]

    return router
