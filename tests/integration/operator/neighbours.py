"""Chain service, WMS and DMS as the operator sees them: their routes and contracts over rows that a
test lays down."""

from collections.abc import Callable
from typing import Annotated
from uuid import UUID, uuid4

from fastapi import APIRouter, FastAPI, Query, Response

from sluice.contracts.attention import (
    Acknowledge,
    Acknowledgement,
    AlreadySeen,
    ChainCounts,
    WorkCounts,
)
from sluice.contracts.chains import (
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
from sluice.contracts.datasets import (
    CloseDataset,
    Dataset,
    DatasetPage,
    DatasetStatus,
    File,
    FilePage,
    NewDataset,
    Stalled,
    StalledList,
    Storage,
)  # fmt: skip
from sluice.contracts.intake import Tie, Unmatched
from sluice.contracts.labels import label
from sluice.contracts.pilots import Pilot
from sluice.contracts.problems import Conflict, NotFound, Unprocessable
from sluice.contracts.states import (
    ChainState,
    DatasetState,
    DatasetType,
    JobState,
    StepState,
    TaskState,
)
from sluice.contracts.tasks import (
    Explanation,
    Job,
    JobOrder,
    JobPage,
    Prioritise,
    TaskStatus,
    TaskStatusList,
)
from sluice.servicekit.clock import SystemClock
from sluice.servicekit.http import Health, create_app
from sluice.servicekit.metrics import ServiceMetrics
from tests.integration.operator.intake_rows import intake_routes
from tests.integration.operator.log_files import log_routes
from tests.integration.operator.pilot_rows import pilot_routes

CLOCK = SystemClock()


def _seen(asked: Acknowledge) -> Acknowledgement:
    return Acknowledgement(by=asked.by, at=CLOCK.now())


class Neighbours:
    """``apps``: by service name, for ``ProcessLinks``."""

    def __init__(self) -> None:
        self.chains: dict[UUID, Chain] = {}
        self.tasks: dict[UUID, TaskStatus] = {}
        self.jobs: dict[int, Job] = {}
        #: Called when somebody asks for a job.
        self.on_job: Callable[[], None] = lambda: None
        #: Called when somebody acknowledges a chain.
        self.on_acknowledge: Callable[[UUID], None] = lambda uid: None
        self.pilots: list[Pilot] = []
        self.of_the_release_before = False
        #: Not in the release before.
        self.counting = True
        self.work = WorkCounts(running=12, waiting=82, held=1, slots=16)
        self.datasets: dict[UUID, Dataset] = {}
        self.storages: list[Storage] = []
        self.files: dict[UUID, list[File]] = {}
        #: Data set → what it waits for.
        self.waits_for: dict[UUID, str] = {}
        self.stalled: list[Stalled] | None = []  #: None: of the release before, which cannot say
        #: Data set and number of files of each request to close one.
        self.closings: list[tuple[UUID, int | None]] = []
        self.requested: list[NewChain] = []
        #: The chains made for them.
        self.made: list[Chain] = []
        self.reruns: list[RerunChain] = []
        self.discarded: list[UUID] = []
        self.unmatched: dict[UUID, Unmatched] = {}
        self.ties: list[Tie] = []
        #: Data set → the template that takes it, once it is matched again.
        self.rematches: dict[UUID, str] = {}

    @property
    def apps(self) -> dict[str, FastAPI]:
        routers = {
            "wfms.chains": [
                self._chain_routes(),
                self._rerun_routes(),
                self._chain_task_routes(),
                self._attention_routes(),
            ],
            "wms": [
                self._wms_routes(),
                pilot_routes(self.pilots, paged=lambda: not self.of_the_release_before),
            ],
            "dms": [self._dms_routes(), log_routes()],
            "wfms.intake": [intake_routes(self.unmatched, self.ties, self.rematches)],
        }
        return {
            name: create_app(name, found, health=Health({}), metrics=ServiceMetrics())
            for name, found in routers.items()
        }

    def rows(self) -> list[ChainTask]:
        return [
            ChainTask(
                task_id=step.task_uid,
                chain_uid=chain.uid,
                step=step.name,
                template_name=chain.template_name,
                dataset_name=chain.dataset_name,
                status=step.state,
                jobs=self.tasks.get(step.task_uid),
            )
            for chain in self.chains.values()
            for step in chain.steps
            if step.task_uid is not None and step.state is not StepState.PENDING
        ]

    @staticmethod
    def _plan_rerun(chain: Chain, asked: RerunChain) -> RerunPlan:
        """The first step is taken over; from it on nothing can be had any more."""
        names = [step.name for step in chain.steps]
        if not chain.state.final:
            raise Conflict(f"chain {chain.uid} has not ended")
        if asked.from_step not in {None, *names}:
            raise Unprocessable(f"the chain has no step {asked.from_step!r}")
        steps = [RerunStep(name=names[0], runs=False, reason="it finished")]
        steps += [RerunStep(name=name, runs=True, jobs=1 if asked.failed_only else 60, taken=59 * asked.failed_only,
                            reason="it failed") for name in names[1:]]  # fmt: skip
        missing = ["its input has been deleted"] if asked.from_step == names[0] else []
        return RerunPlan(
            chain=chain.uid, steps=steps, params={**chain.params, **asked.params}, missing=missing
        )

    def _rerun_routes(self) -> APIRouter:
        router = APIRouter(prefix="/api/v1")

        @router.post("/chains/{uid}/rerun/plan")
        async def plan_rerun(uid: UUID, asked: RerunChain) -> RerunPlan:
            return self._plan_rerun(self.chains[uid], asked)

        @router.post("/chains/{uid}/rerun", status_code=201)
        async def rerun(uid: UUID, asked: RerunChain) -> Chain:
            if missing := self._plan_rerun(self.chains[uid], asked).missing:
                raise Conflict(missing[0])
            self.reruns.append(asked)
            made = {
                "uid": asked.key,
                "rerun_of": uid,
                "state": ChainState.IN_PROGRESS,
                "ended_at": None,
                "reason": "",
            }
            taken = [
                one.model_copy(update={"taken_from": uid}) for one in self.chains[uid].steps[:1]
            ]
            chain = self.chains[uid].model_copy(
                update={**made, "steps": [*taken, *self.chains[uid].steps[1:]]}
            )
            self.chains[chain.uid] = chain
            return chain

        return router

    def _chain_routes(self) -> APIRouter:
        router = APIRouter(prefix="/api/v1")

        @router.post("/datasets", status_code=201)
        async def new_dataset(new: NewChain, response: Response) -> Chain:
            for asked, known in zip(self.requested, self.made, strict=True):
                if asked == new:
                    response.status_code = 200
                    return known
            self.requested.append(new)
            chain = Chain(
                uid=uuid4(), state=ChainState.IN_PROGRESS, template_id=new.template_id, template_name=new.template_name,
                template_version=new.template_version, dataset_uid=new.dataset.uid, dataset_name=new.dataset.name,
                params=new.params, created_at=CLOCK.now(),
                steps=[ChainStep(name=step.name, state=StepState.PENDING) for step in new.plan.steps],
                datasets=[],
            )  # fmt: skip
            self.chains[chain.uid] = chain
            self.made.append(chain)
            return chain

        @router.get("/chains")
        async def chains(
            *, state: ChainState | None = None, dataset: UUID | None = None, attention: bool = False,
            ended: bool = False, uid: Annotated[list[UUID] | None, Query()] = None, limit: int = 1000, after: str | None = None,
        ) -> ChainPage:  # fmt: skip
            rows = self.needed() if attention else list(self.chains.values())
            rows = [
                chain
                for chain in rows
                if (uid is None or chain.uid in uid) and (chain.ended_at is not None or not ended)
            ]
            found = sorted(
                rows, key=lambda chain: (ended and chain.ended_at) or chain.created_at, reverse=True
            )
            found = [
                chain
                for chain in found
                if state in {None, chain.state} and dataset in {None, chain.dataset_uid}
            ]
            first = int(after or 0)
            more = len(found) > first + limit
            return ChainPage(
                chains=found[first : first + limit], next=str(first + limit) if more else None
            )

        @router.get("/chains/{uid}")
        async def chain(uid: UUID) -> Chain:
            if uid not in self.chains:
                raise NotFound(f"there is no chain {uid}")
            return self.chains[uid]

        @router.post("/chains/{uid}/cancel")
        async def cancel_chain(uid: UUID) -> Chain:
            return self.cancel_chain((await chain(uid)).uid)

        @router.post("/chains/{uid}/discard")
        async def discard_chain(uid: UUID) -> Chain:
            found = await chain(uid)
            self.discarded.append(uid)
            return found

        return router

    def _chain_task_routes(self) -> APIRouter:
        router = APIRouter(prefix="/api/v1")

        @router.get("/tasks")
        async def tasks(
            *, chain: UUID | None = None, state: StepState | None = None, limit: int = 1000, after: int = 0,
            paged: bool = False, full: bool = False,
        ) -> ChainTaskList:  # fmt: skip
            rows = [
                row
                for row in self.rows()
                if chain in {None, row.chain_uid} and state in {None, row.status}
            ]
            more = paged and after + limit < len(rows)
            found = [self._as_asked(row, full=full) for row in rows[after : after + limit]]
            return ChainTaskList(tasks=found, next=str(after + limit) if more else None)

        @router.get("/tasks/{uid}")
        async def task(uid: UUID, full: bool = False) -> ChainTask:
            for row in self.rows():
                if row.task_id == uid:
                    return self._as_asked(row, full=full)
            raise NotFound(f"there is no task {uid}")

        @router.post("/tasks/{uid}/cancel")
        async def cancel_task(uid: UUID) -> TaskStatus:
            self.cancel_chain((await task(uid)).chain_uid)
            return self._change(uid, state=TaskState.CANCELED, ended_at=CLOCK.now())

        @router.post("/tasks/{uid}/rank")
        async def prioritise(uid: UUID, wanted: Prioritise) -> TaskStatus:
            return self._change(uid, rank=wanted.rank)

        return router

    @staticmethod
    def _as_asked(row: ChainTask, *, full: bool) -> ChainTask:
        if full or row.jobs is None:
            return row
        return row.model_copy(update={"jobs": row.jobs.model_copy(update={"killed": None})})

    def cancel_chain(self, uid: UUID) -> Chain:
        found = self.chains[uid]
        if found.state in {ChainState.FINISHED, ChainState.FAILED}:
            raise Conflict(f"the chain is {found.state}", state=found.state)
        steps = [
            step
            if step.state.final
            else step.model_copy(update={"state": StepState.CANCELED, "ended_at": CLOCK.now()})
            for step in found.steps
        ]
        ended = {
            "state": ChainState.CANCELED,
            "ended_at": CLOCK.now(),
            "reason": "canceled by a person",
            "steps": steps,
        }
        self.chains[uid] = found.model_copy(update=ended)
        return self.chains[uid]

    def _change(self, uid: UUID, **values: object) -> TaskStatus:
        self.tasks[uid] = self.tasks[uid].model_copy(update=values)
        return self.tasks[uid]

    def _wms_routes(self) -> APIRouter:
        router = APIRouter(prefix="/api/v1")

        @router.get("/tasks")
        async def tasks(troubled: bool = False, limit: int = 1000) -> TaskStatusList:
            return TaskStatusList(
                tasks=(self.troubled() if troubled else list(self.tasks.values()))[:limit]
            )

        @router.get("/counts")
        async def counts(troubled: bool = False) -> WorkCounts:
            if not self.counting:
                raise NotFound("there is no such address")
            return (
                self.work.model_copy(update={"troubled": len(self.troubled())})
                if troubled
                else self.work
            )

        @router.get("/tasks/{uid}/jobs")
        async def jobs(
            uid: UUID,
            *,
            state: JobState | None = None,
            sort: JobOrder = JobOrder.SEQ,
            after: int = 0,
            limit: int = 1000,
        ) -> JobPage:
            found = [
                job
                for job in self.jobs.values()
                if job.task_uid == uid and state in {None, job.state}
            ]
            found.sort(key=lambda job: job.seq if sort is JobOrder.SEQ else -(job.seconds or 0))
            return JobPage(
                jobs=found[after : after + limit],
                next=str(after + limit) if after + limit < len(found) else None,
            )

        @router.get("/tasks/{uid}/explain")
        async def explain(uid: UUID) -> Explanation:
            status = self.tasks[uid]
            return Explanation(
                text=f"{status.running} jobs run and {status.ready} wait for a free slot; 8 slots are busy with it."
            )

        @router.post("/tasks/{uid}/retry")
        async def retry(uid: UUID) -> TaskStatus:
            status = self.tasks[uid]
            return self._change(uid, ready=status.ready + status.failed, failed=0, errors={})

        @router.get("/jobs/{job}")
        async def job(job: int) -> Job:
            self.on_job()
            if job not in self.jobs:
                raise NotFound(f"there is no job {job}")
            return self.jobs[job]

        return router

    def needed(self) -> list[Chain]:
        """Chains that need a person."""

        def wanted(chain: Chain) -> bool:
            if chain.state is ChainState.FAILED:
                return chain.acknowledged is None
            return any(step.reason and not step.state.final for step in chain.steps)

        return [chain for chain in self.chains.values() if wanted(chain)]

    def troubled(self) -> list[TaskStatus]:
        """Tasks with jobs that failed or are held, those with held ones first."""
        live = [
            task
            for task in self.tasks.values()
            if not task.state.final and (task.failed or task.held)
        ]
        return sorted(live, key=lambda task: task.held == 0)

    def _attention_routes(self) -> APIRouter:
        router = APIRouter(prefix="/api/v1")

        @router.get("/counts")
        async def counts() -> ChainCounts:
            if not self.counting:
                raise NotFound("there is no such address")
            states = [chain.state for chain in self.chains.values()]
            running, uploading = (
                states.count(ChainState.IN_PROGRESS),
                states.count(ChainState.UPLOADING),
            )
            return ChainCounts(
                in_progress=running, uploading=uploading, attention=len(self.needed())
            )

        @router.post("/chains/{uid}/acknowledge")
        async def acknowledge(uid: UUID, asked: Acknowledge) -> Chain:
            self.on_acknowledge(uid)
            if uid not in self.chains:
                raise NotFound(f"there is no chain {uid}")
            if (first := self.chains[uid].acknowledged) and first.by != asked.by:
                raise AlreadySeen(f"chain {uid}", first.by, first.at)
            self.chains[uid] = self.chains[uid].model_copy(update={"acknowledged": _seen(asked)})
            return self.chains[uid]

        return router

    def _dms_routes(self) -> APIRouter:
        router = APIRouter(prefix="/api/v1")

        @router.get("/datasets")
        async def datasets(
            *, type: DatasetType | None = None, state: Annotated[list[DatasetState] | None, Query()] = None,
            name: str | None = None, newest: bool = False, after: str | None = None, limit: int = 1000,
        ) -> DatasetPage:  # fmt: skip
            found = sorted(self.datasets.values(), key=lambda one: one.timestamp, reverse=newest)
            found = [
                one
                for one in found
                if type in {None, one.type} and one.state in (state or DatasetState)
            ]
            registered = [one for one in found if one.name == name]
            found = (
                found
                if name is None
                else registered or [one for one in found if label(one) == name]
            )
            first = int(after or 0)
            return DatasetPage(datasets=found[first : first + limit], cursor=str(first + limit))

        @router.get("/datasets/{uid}/files")
        async def files(uid: UUID) -> FilePage:
            return FilePage(files=self.files.get(uid, []), next=None)

        @router.post("/datasets", status_code=201)
        async def register(new: NewDataset) -> Dataset:
            dataset = Dataset(
                uid=uuid4(),
                state=DatasetState.OPEN,
                count_files=0,
                bytes=0,
                timestamp=CLOCK.now(),
                **new.model_dump(),
            )
            self.datasets[dataset.uid] = dataset
            return dataset

        @router.get("/datasets/{uid}")
        async def dataset(uid: UUID) -> Dataset:
            if uid not in self.datasets:
                raise NotFound(f"there is no data set {uid}")
            return self.datasets[uid]

        @router.get("/datasets/{uid}/status")
        async def status(uid: UUID) -> DatasetStatus:
            found = await dataset(uid)
            return DatasetStatus(
                uid=uid, state=found.state, usable=found.usable, registered_at=found.timestamp, closed_at=found.closed_at,
                count_files=found.count_files, close_at=None, waits_for=self.waits_for.get(uid),
            )  # fmt: skip

        @router.get("/stalled")
        async def stalled(limit: int) -> StalledList:
            if self.stalled is None:
                raise NotFound("Not Found")
            return StalledList(
                stalled=self.stalled[:limit], more=sum(one.number for one in self.stalled[limit:])
            )

        @router.post("/datasets/{uid}/close")
        async def close(uid: UUID, request: CloseDataset) -> Dataset:
            self.closings.append((uid, request.files))
            return await dataset(uid)

        @router.get("/storages")
        async def storages(measured: bool = False) -> list[Storage]:
            return [
                one.model_copy(update={} if measured else {"free": None, "datasets": None})
                for one in self.storages
            ]

        return router
