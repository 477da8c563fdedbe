"""Descriptions of tasks, which the WMS sends with the first job of each."""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from uuid import UUID

from pilot.domain.assigned_jobs import AssignedJob
from sluice.contracts.pilots.leases import PilotTask


class KnownTasks:
    """Tasks in the order of their last jobs."""

    def __init__(self) -> None:
        self._tasks: OrderedDict[UUID, PilotTask] = OrderedDict()

    def __contains__(self, uid: UUID) -> bool:
        return uid in self._tasks

    def __getitem__(self, uid: UUID) -> PilotTask:
        return self._tasks[uid]

    @property
    def uids(self) -> list[UUID]:
        """Return the uids of all known tasks."""
        return list(self._tasks)

    def kind(self, uid: UUID) -> str | None:
        """Return the kind of warm worker that the jobs of a task need, or None."""
        warm = self[uid].needs.warm
        return None if warm is None else warm.kind

    @property
    def steps(self) -> dict[str, str]:
        """Return the step of each kind of warm worker."""
        kinds = ((self.kind(uid), task.step) for uid, task in self._tasks.items())
        return {kind: step for kind, step in kinds if kind is not None}

    def find_position(self, job: AssignedJob, waiting_jobs: Sequence[AssignedJob]) -> int:
        """Return the position of a new job in the queue.

        The job goes to the end, but before trailing jobs of earlier steps of its chain. This keeps
        the intermediate data small.
        """
        task, position = self[job.job.task_uid], len(waiting_jobs)
        while position:
            other = self[waiting_jobs[position - 1].job.task_uid]
            if other.chain_uid != task.chain_uid or other.depth >= task.depth:
                break
            position -= 1
        return position

    def learn(self, tasks: Iterable[PilotTask]) -> None:
        """Add the descriptions of tasks."""
        self._tasks.update((task.uid, task) for task in tasks)

    def use(self, uid: UUID) -> None:
        """Mark a task as the one that had a job last."""
        self._tasks.move_to_end(uid)

    def forget(self, used_tasks: set[UUID], *, limit: int) -> list[UUID]:
        """Remove unused tasks until at most ``limit`` tasks are left, and return the removed uids.

        A pilot may run for months, so it cannot keep every task.
        """
        unused = [uid for uid in self._tasks if uid not in used_tasks]
        removed = unused[: max(0, len(self._tasks) - limit)]
        for uid in removed:
            del self._tasks[uid]
        return removed
