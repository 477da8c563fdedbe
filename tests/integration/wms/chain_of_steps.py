"""A chain of three map steps, as the WMS receives it. Tests may change the steps."""

from pathlib import Path
from uuid import UUID, uuid4

from sluice.clients.dms import DmsClient
from sluice.contracts.common.states import JobState, TaskState
from sluice.contracts.jobs.tasks import Task
from tests.integration.wms.catalogue import register_output
from tests.integration.wms.splitting.split_tasks import accept_new_task, make_dataset
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.db.jobs.leases import ClaimedJob
from wms.usecases.splitting.split_waiting_tasks import split_waiting_tasks


class ChainOfSteps:
    """A chain of the map steps ``a``, ``b`` and ``c``. A test sends their tasks."""

    def __init__(self, wms: WmsFixture, dms: DmsClient) -> None:
        self.wms, self.dms, self.steps = wms, dms, dict[str, Task]()
        self.uid = uuid4()

    async def create_tasks(self, folder: Path, *, files: int, **more: object) -> "ChainOfSteps":
        """Create the tasks. ``more`` has fields of all three."""
        read = await make_dataset(self.dms, folder, files=files)
        for step in "abc":
            written = await register_output(self.dms)
            self.steps[step] = make_task(
                step=step,
                chain_uid=self.uid,
                dat_in_uid=read,
                dat_out_uid=written,
                dat_stor_url=f"file://{folder}",
                dat_out_url=f"file://{folder}/{written}",
                **more,
            )
            read = written
        return self

    async def send(self, *steps: str) -> None:
        for step in steps:
            await accept_new_task(self.wms, self.steps[step])
            await self.split()

    async def split(self, at: WmsFixture | None = None) -> None:
        await split_waiting_tasks((at or self.wms).context, self.dms, page=3)

    async def ready_seqs(self, step: str) -> list[int]:
        """Return the sequence numbers of the step's ready jobs."""
        return await self.job_seqs(step, JobState.READY)

    async def job_seqs(self, step: str, *states: JobState) -> list[int]:
        async with self.wms.database.connection() as connection:
            rows = await connection.fetch(
                "SELECT seq FROM jobs WHERE task_uid = $1 AND state = ANY($2) ORDER BY seq",
                self.steps[step].uid,
                states or list(JobState),
            )
        return [row["seq"] for row in rows]

    async def job_inputs(self, step: str) -> list[object]:
        async with self.wms.database.connection() as connection:
            rows = await connection.fetch(
                "SELECT inputs FROM jobs WHERE task_uid = $1 ORDER BY seq", self.steps[step].uid
            )
        return [row["inputs"] for row in rows]

    def is_sent(self, step: str) -> bool:
        return self.steps[step].uid in self.wms.tasks

    async def state(self, step: str) -> TaskState:
        return (await self.wms.status(self.steps[step])).state

    def find_step(self, job: ClaimedJob) -> str:
        return next(name for name, task in self.steps.items() if task.uid == job.task_uid)

    async def run_all(self, pilot: UUID) -> list[tuple[str, int]]:
        """Run all jobs one after the other, and return them in the order of their leases."""
        done = []
        while jobs := await self.wms.lease(pilot):
            await self.wms.finish(pilot, *jobs)
            done += [(self.find_step(job), job.seq) for job in jobs]
        return done
