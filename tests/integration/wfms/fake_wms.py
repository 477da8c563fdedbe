"""A small fake WMS for tests of the WfMS: tasks end when the test says so."""

from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from sluice.contracts.common.problems import Conflict, NotFound
from sluice.contracts.common.states import TaskState
from sluice.contracts.jobs.tasks import (
    BY_REQUEST,
    BoostResult,
    Boosts,
    Cancel,
    Prioritise,
    Task,
    TaskStatus,
    TaskStatusList,
)


class FakeWms:
    """``accept`` does what the queue does, and ``end`` what the pilots do.

    ``messages`` has all messages, including repetitions.
    """

    def __init__(self) -> None:
        self.tasks: dict[UUID, Task] = {}
        self.statuses: dict[UUID, TaskStatus] = {}
        self.messages: list[UUID] = []
        #: Task → number of tasks that use each of its inputs, for inputs that are deleted file by
        #: file.
        self.downstream_counts: dict[UUID, dict[UUID, int]] = {}
        #: Requests to raise ranks.
        self.boosts: list[Boosts] = []
        self._ranked_by_hand: set[UUID] = set()
        #: The step whose tasks fail.
        self.failing_tasks = ""
        #: Steps that finish although one of their jobs fails.
        self.tolerant_tasks: set[str] = set()

    def accept(self, task: Task) -> None:
        self.messages.append(task.uid)
        if task.uid in self.tasks:
            return
        self.tasks[task.uid] = task
        counts = dict.fromkeys(
            (
                "total",
                "ready",
                "leased",
                "running",
                "finished",
                "failed",
                "canceled",
                "quarantined",
            ),
            0,
        )
        self.statuses[task.uid] = TaskStatus(
            uid=task.uid,
            chain_uid=task.chain_uid,
            step=task.step,
            template=task.template,
            state=TaskState.WAITING,
            mode=task.mode,
            rank=task.rank,
            created_at=datetime.now(UTC),
            **counts,
        )

    def end(self, uid: UUID, state: TaskState, *, failed: int = 0, reason: str = "") -> None:
        update = {
            "state": state,
            "total": failed,
            "failed": failed,
            "reason": reason,
            "ended_at": datetime.now(UTC),
        }
        self.statuses[uid] = self.statuses[uid].model_copy(update=update)

    def can_end(self, uid: UUID) -> bool:
        """Return whether the task is running and all of its upstream tasks have finished."""
        unfinished = {
            output.dat_out_uid
            for other, status in self.statuses.items()
            if status.state is not TaskState.FINISHED
            for output in self.tasks[other].outputs
        }
        read = {task_input.dat_in_uid for task_input in self.tasks[uid].inputs}
        status = self.statuses.get(uid)
        return status is not None and not status.state.final and read.isdisjoint(unfinished)

    def status(self, uid: UUID) -> TaskStatus:
        if uid not in self.statuses:
            raise NotFound(f"no task {uid}", task=uid)
        return self.statuses[uid]

    def routes(self) -> APIRouter:
        router = APIRouter(prefix="/api/v1")
        self._task_routes(router)

        @router.put("/boosts")
        async def boosts(request: Boosts) -> BoostResult:
            before = self._boosted()
            self.boosts.append(request)
            after = self._boosted()
            return BoostResult(
                raised=len(after.items() - before.items()), lowered=len(before.keys() - after)
            )

        return router

    def _boosted(self) -> dict[UUID, str]:
        """Return the live tasks of the last request to raise ranks, with the reasons."""
        boosts = self.boosts[-1].boosts if self.boosts else []
        return {
            boost.task_uid: boost.reason
            for boost in boosts
            if boost.task_uid in self.statuses
            and not self.statuses[boost.task_uid].state.final
            and boost.task_uid not in self._ranked_by_hand
        }

    def _task_routes(self, router: APIRouter) -> None:
        @router.get("/tasks")
        async def tasks(
            uid: Annotated[list[UUID] | None, Query()] = None, limit: int = 1000
        ) -> TaskStatusList:
            if not uid:
                return TaskStatusList(tasks=list(reversed(self.statuses.values()))[:limit])
            return TaskStatusList(
                tasks=[self.statuses[task] for task in uid if task in self.statuses]
            )

        @router.post("/tasks/{uid}/cancel")
        async def cancel(uid: UUID, body: Cancel = BY_REQUEST) -> TaskStatus:
            match self.status(uid).state:
                case TaskState.FINISHED | TaskState.FAILED as state:
                    raise Conflict(f"task {uid} has already {state}", task=uid, state=state)
                case TaskState.CANCELED:
                    pass
                case _:
                    self.end(uid, TaskState.CANCELED, reason=body.reason)
            return self.status(uid)

        @router.post("/tasks/{uid}/rank")
        async def rank(uid: UUID, new: Prioritise) -> TaskStatus:
            state = self.status(uid).state
            if state.final:
                raise Conflict(f"task {uid} has already ended ({state})", task=uid, state=state)
            self._ranked_by_hand.add(uid)
            self.statuses[uid] = self.status(uid).model_copy(update={"rank": new.rank})
            return self.statuses[uid]
