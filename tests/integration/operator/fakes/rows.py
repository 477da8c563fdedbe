"""Rows of the fake neighbours of the operator service, and the operations of their routes."""

from collections.abc import Callable, Sequence
from typing import TypeVar
from uuid import UUID

from dms.domain.errors import UnknownDataset
from sluice.contracts.chains.attention import (
    WorkCounts,
)
from sluice.contracts.chains.chains import (
    Chain,
    ChainStep,
    ChainTask,
    NewChain,
    RerunChain,
)
from sluice.contracts.chains.intake import Tie, Unmatched
from sluice.contracts.common.problems import Conflict, InvalidCursor
from sluice.contracts.common.states import (
    ChainState,
    JobState,
    StepState,
    TaskMode,
    TaskState,
)
from sluice.contracts.data.append_only import ScheduleState
from sluice.contracts.data.append_only_list import AppendOnlyDataset
from sluice.contracts.data.datasets import Dataset, File, StalledGroup, Storage
from sluice.contracts.data.runs import Frame, Period, Run
from sluice.contracts.jobs.limits import ResourceLimit
from sluice.contracts.jobs.steps import StepLoad, StepPriority
from sluice.contracts.jobs.tasks import (
    Cancel,
    Job,
    TaskStatus,
    UnschedulableTask,
)
from sluice.contracts.jobs.times import Timeline, WorkTimes
from sluice.contracts.pilots.pilot_list import Pilot
from sluice.contracts.templates.plan import Plan
from sluice.servicekit.running.clock import SystemClock
from wfms.chains.usecases.chains.cancel_chain import ChainNotCancelable
from wfms.chains.usecases.chains.get_chain import UnknownChain
from wms.db.tasks.status import no_task

CLOCK = SystemClock()


RowT = TypeVar("RowT")


def cut_page(rows: Sequence[RowT], after: str | None, limit: int) -> tuple[list[RowT], str | None]:
    """Return a page of rows, and the cursor of the next page, which a full page always has."""
    if after is not None and not after.isdigit():
        raise InvalidCursor(after)
    first = int(after or 0)
    page = list(rows[first : first + limit])
    return page, str(first + limit) if len(page) == limit else None


def _is_being_canceled(chain: Chain) -> bool:
    return chain.state is ChainState.IN_PROGRESS and bool(chain.reason)


class Rows:
    def __init__(self) -> None:
        self.chains: dict[UUID, Chain] = {}
        self.tasks: dict[UUID, TaskStatus] = {}
        self.jobs: dict[int, Job] = {}
        #: Called before a job is returned.
        self.on_job: Callable[[], None] = lambda: None
        #: Called before a chain is acknowledged.
        self.on_acknowledge: Callable[[UUID], None] = lambda uid: None
        self.pilots: list[Pilot] = []
        self.removed_pilots: set[UUID] = set()
        self.work = WorkCounts(running=12, waiting=82, quarantined=1, slots=16)
        self.steps: list[StepLoad] = []
        self.unschedulable: list[UnschedulableTask] = []
        self.limits: dict[str, ResourceLimit] = {}
        #: Step and template → priority. The template is empty for all templates.
        self.priorities: dict[tuple[str, str], StepPriority] = {}
        self.times = WorkTimes(steps=[])
        self.timeline: Timeline | None = None
        #: The queries of requests for times.
        self.times_asked: list[dict[str, object]] = []
        self.datasets: dict[UUID, Dataset] = {}
        self.storages: list[Storage] = []
        self.periods: list[Period] = []
        self.runs: list[Run] = []
        self.frames: list[Frame] = []
        self.files: dict[UUID, list[File]] = {}
        #: Data set → the request that registered it.
        self.registrations: dict[UUID, dict[str, object]] = {}
        #: Data set → the number of files at which it closes.
        self.close_at: dict[UUID, int] = {}
        #: Data set → the files that it waits for.
        self.waits_for: dict[UUID, str] = {}
        self.append_only: list[AppendOnlyDataset] = []
        self.schedules: list[ScheduleState] = []
        self.stalled: list[StalledGroup] = []
        #: Data set and number of files of each request to close a data set.
        self.closings: list[tuple[UUID, int | None]] = []
        self.requested: list[NewChain] = []
        #: Template → the plan of its chains.
        self.plans: dict[UUID, Plan] = {}
        self.reruns: list[RerunChain] = []
        self.discarded: list[UUID] = []
        self.unmatched: dict[UUID, Unmatched] = {}
        self.ties: list[Tie] = []
        #: Data set → the template that takes it when it is matched again.
        self.rematches: dict[UUID, str] = {}

    def task_rows(self) -> list[ChainTask]:
        """Return the tasks of steps that began, those of the newest chains first."""
        newest = sorted(self.chains.values(), key=lambda chain: chain.created_at, reverse=True)
        return [
            ChainTask(
                task_uid=step.task_uid,
                chain_uid=chain.uid,
                step=step.name,
                template=chain.template,
                dataset_name=chain.dataset_name,
                state=step.state,
                jobs=None if step.state is StepState.STARTING else self.tasks.get(step.task_uid),
            )
            for chain in newest
            for step in chain.steps
            if step.task_uid is not None
            and step.taken_from is None
            and step.state is not StepState.PENDING
        ]

    def chain(self, uid: UUID) -> Chain:
        if uid not in self.chains:
            raise UnknownChain(uid)
        return self.chains[uid]

    def dataset(self, uid: UUID) -> Dataset:
        if uid not in self.datasets:
            raise UnknownDataset(uid)
        return self.datasets[uid]

    def cancel_chain(self, uid: UUID, request: Cancel) -> Chain:
        """Cancel a chain; while it has running steps, only its reason says so."""
        chain = self.chain(uid)
        if chain.state is ChainState.CANCELED or _is_being_canceled(chain):
            return chain
        if chain.state.final:
            raise ChainNotCancelable(uid, chain.state)
        runs = any(step.state is StepState.IN_PROGRESS for step in chain.steps)
        now = CLOCK.now()
        steps = [
            step.model_copy(update={"state": StepState.CANCELED, "ended_at": now})
            if step.state in {StepState.PENDING, StepState.STARTING}
            else step
            for step in chain.steps
        ]
        ended = {} if runs else {"state": ChainState.CANCELED, "ended_at": now}
        self.chains[uid] = chain.model_copy(
            update={"reason": request.reason, "steps": steps, **ended}
        )
        return self.chains[uid]

    def change(self, uid: UUID, **values: object) -> TaskStatus:
        self.tasks[uid] = self.tasks[uid].model_copy(update=values)
        return self.tasks[uid]

    def needed(self) -> list[Chain]:
        """Return the chains that need attention."""

        rerun = {chain.rerun_of for chain in self.chains.values()}

        def is_needed(chain: Chain) -> bool:
            if chain.state is ChainState.FAILED:
                dealt_with = chain.acknowledged is not None or chain.discarded
                return not dealt_with and chain.uid not in rerun
            return any(step.reason and not step.state.final for step in chain.steps)

        return [chain for chain in self.chains.values() if is_needed(chain)]

    def troubled(self) -> list[TaskStatus]:
        """Return tasks with failed or quarantined jobs, tasks with quarantined jobs first."""
        live = [
            task
            for task in self.tasks.values()
            if not task.state.final and (task.failed or task.quarantined)
        ]
        live.sort(key=lambda task: task.created_at, reverse=True)
        return sorted(live, key=lambda task: task.quarantined == 0)

    def add_waiting_task(self, chain: UUID, step: ChainStep) -> None:
        """Add the task of a step, without jobs."""
        assert step.task_uid is not None
        self.tasks[step.task_uid] = TaskStatus(
            uid=step.task_uid,
            chain_uid=chain,
            step=step.name,
            template=self.chain(chain).template,
            state=TaskState.WAITING,
            mode=TaskMode.MAP,
            rank=1.0,
            total=0,
            ready=0,
            leased=0,
            running=0,
            finished=0,
            failed=0,
            canceled=0,
            quarantined=0,
            created_at=CLOCK.now(),
        )

    def latest_tasks(self) -> list[TaskStatus]:
        return sorted(self.tasks.values(), key=lambda task: task.created_at, reverse=True)

    def task(self, uid: UUID) -> TaskStatus:
        if uid not in self.tasks:
            raise no_task(uid)
        return self.tasks[uid]

    def retry(self, uid: UUID) -> TaskStatus:
        """Make the failed and quarantined jobs of a task ready."""
        status = self.task(uid)
        if status.state.final:
            raise Conflict(f"task {uid} has ended ({status.state})", task=uid, state=status.state)
        retried = {JobState.FAILED, JobState.QUARANTINED}
        for number, job in self.jobs.items():
            if job.task_uid == uid and job.state in retried:
                self.jobs[number] = job.model_copy(update={"state": JobState.READY})
        ready = status.ready + status.failed + status.quarantined
        return self.change(uid, ready=ready, failed=0, quarantined=0, errors={})
