"""The real WMS, and the fake WMS of the tests of the operator service with the same rows."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from sluice.clients.wms import WmsClient
from sluice.contracts.common.states import ErrorClass, JobState, PilotState
from sluice.contracts.jobs.tasks import Task, TaskStatus
from tests.integration.fakes.real_services import RealServices
from tests.integration.fakes.two_services import make_http_client
from tests.integration.operator.fakes.neighbours import Neighbours
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.db.jobs.leases import ClaimedJob


@dataclass
class OperatorWms:
    """One of the two. All rows come from the real WMS; ``copy_rows`` gives them to the fake."""

    client: WmsClient
    services: RealServices
    neighbours: Neighbours | None

    @classmethod
    def real(cls, services: RealServices) -> "OperatorWms":
        return cls(services.wms, services, None)

    @classmethod
    def fake(cls, services: RealServices) -> "OperatorWms":
        neighbours = Neighbours()
        return cls(WmsClient(make_http_client(neighbours.apps["wms"], "wms")), services, neighbours)

    @property
    def work(self) -> WmsFixture:
        return self.services.work

    async def clear(self) -> None:
        tables = "tasks, jobs, pilots, limits, step_priorities"
        await self.work.execute(f"TRUNCATE {tables} CASCADE")

    async def copy_rows(self) -> None:
        """Give the fake all pilots, tasks, jobs, steps and limits of the real WMS."""
        if self.neighbours is None:
            return
        real = self.services.wms
        self.neighbours.pilots[:] = (await real.list_pilots()).pilots
        # Like tests, which add rows in the order of time.
        for status in reversed((await real.list_tasks()).tasks):
            self.neighbours.tasks[status.uid] = status
            async for job in real.iterate_jobs(status.uid, full=True):
                attempts = (await real.get_job(job.id)).attempts
                self.neighbours.jobs[job.id] = job.model_copy(update={"attempts": attempts})
        self.neighbours.steps = [
            load.model_copy(update={"priority": None}) for load in (await real.list_steps()).steps
        ]
        self.neighbours.limits = {
            limit.name: limit for limit in reversed((await real.list_limits()).limits)
        }
        self.neighbours.work = await real.get_counts()
        self.neighbours.unschedulable = (await real.list_unschedulable_tasks()).tasks

    async def pilot(self, state: PilotState = PilotState.ACTIVE) -> UUID:
        """Register a pilot on a new node, and bring it into the state."""
        uid = uuid4()
        await self.work.add_pilot(name=f"p-{uid}", uid=uid)
        if state is not PilotState.ACTIVE:
            await self.work.execute("UPDATE pilots SET state = $2 WHERE uid = $1", uid, state)
        return uid

    async def task(self, *, jobs: int, **fields: Any) -> Task:
        return await self.work.add_task(make_task(**fields), jobs=jobs)

    async def lease(self, task: Task, jobs: int) -> tuple[UUID, list[ClaimedJob]]:
        """Let a new pilot take jobs, and return it with the jobs."""
        pilot = await self.pilot()
        leased = await self.work.lease(pilot, jobs)
        assert {job.task_uid for job in leased} == {task.uid}
        return pilot, leased

    async def quarantine(self, task: Task, seq: int) -> None:
        """Quarantine a ready job."""
        await self.work.execute(
            "UPDATE jobs SET state = $4, error_class = $3 WHERE task_uid = $1 AND seq = $2",
            task.uid,
            seq,
            ErrorClass.PILOT_LOST,
            JobState.QUARANTINED,
        )
        await self.work.execute(
            "UPDATE tasks SET ready = ready - 1, quarantined = quarantined + 1 WHERE uid = $1",
            task.uid,
        )

    async def status(self, task: Task) -> TaskStatus:
        [status] = [one for one in (await self.client.list_tasks()).tasks if one.uid == task.uid]
        return status
