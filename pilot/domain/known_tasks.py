"""Descriptions of tasks, as the WMS sent them with the first job of each."""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from uuid import UUID

from pilot.domain.held_jobs import HeldJob
from sluice.contracts.pilots import PilotTask


class KnownTasks:
    """In the order in which they had their last job."""

    def __init__(self) -> None:
        self._tasks: OrderedDict[UUID, PilotTask] = OrderedDict()

    def __contains__(self, uid: UUID) -> bool:
        return uid in self._tasks

    def __getitem__(self, uid: UUID) -> PilotTask:
        return self._tasks[uid]

    @property
    def uids(self) -> list[UUID]:
        return list(self._tasks)

    def kind(self, uid: UUID) -> str | None:
        """Of the tool that its jobs want loaded; None: of none."""
        warm = self[uid].needs.warm
        return None if warm is None else warm.kind

    @property
    def steps(self) -> dict[str, str]:
        """By the kind of tool that their jobs want loaded."""
        kinds = ((self.kind(uid), task.step) for uid, task in self._tasks.items())
        return {kind: step for kind, step in kinds if kind is not None}

    def place_of(self, job: HeldJob, waiting: Sequence[HeldJob]) -> int:
        """Behind those that wait; but before the jobs of its chain's earlier steps at their end, so
        that what lies between the steps stays small."""
        task, place = self[job.job.task_uid], len(waiting)
        while place:
            other = self[waiting[place - 1].job.task_uid]
            if other.chain_uid != task.chain_uid or other.depth >= task.depth:
                break
            place -= 1
        return place

    def learn(self, tasks: Iterable[PilotTask]) -> None:
        self._tasks.update((task.uid, task) for task in tasks)

    def use(self, uid: UUID) -> None:
        self._tasks.move_to_end(uid)

    def forget(self, used: set[UUID], *, most: int) -> list[UUID]:
        """Those that go so that there are no more than ``most``, as far as they are not ``used``: a
        pilot may live for months."""
        unused = [uid for uid in self._tasks if uid not in used]
        gone = unused[: max(0, len(self._tasks) - most)]
        for uid in gone:
            del self._tasks[uid]
        return gone
