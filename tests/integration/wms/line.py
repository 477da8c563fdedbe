"""Steps of a chain in a line, as the WMS gets them: maps, until a test changes a step."""

from pathlib import Path
from uuid import UUID, uuid4

from sluice.clients.dms import DmsClient
from sluice.contracts.common.states import JobState, TaskState
from sluice.contracts.jobs.tasks import Task
from tests.integration.wms.catalogue import new_output
from tests.integration.wms.splitting.test_splitting import accept, make_dataset
from tests.integration.wms.stage import Stage, make_task
from wms.db.jobs.leases import ClaimedJob
from wms.usecases.splitting.split_task import split_waiting_tasks


class Line:
    """Steps ``a``, ``b`` and ``c`` of a chain, maps over each other. A test sends them."""

    def __init__(self, stage: Stage, dms: DmsClient) -> None:
        self.stage, self.dms, self.steps = stage, dms, dict[str, Task]()
        self.chain = uuid4()

    async def lay(self, folder: Path, *, files: int, **more: object) -> "Line":
        """Create the tasks. ``more`` has fields of all three."""
        read = await make_dataset(self.dms, folder, files=files)
        for step in "abc":
            written = await new_output(self.dms)
            self.steps[step] = make_task(
                step=step,
                chain_uid=self.chain,
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
            await accept(self.stage, self.steps[step])
            await self.split()

    async def split(self, at: Stage | None = None) -> None:
        await split_waiting_tasks((at or self.stage).context, self.dms, page=3)

    async def ready(self, step: str) -> list[int]:
        """Return the sequence numbers of the step's ready jobs."""
        return await self.seqs(step, JobState.READY)

    async def seqs(self, step: str, *states: JobState) -> list[int]:
        async with self.stage.database.connection() as connection:
            rows = await connection.fetch(
                "SELECT seq FROM jobs WHERE task_uid = $1 AND state = ANY($2) ORDER BY seq",
                self.steps[step].uid,
                states or list(JobState),
            )
        return [row["seq"] for row in rows]

    async def inputs(self, step: str) -> list[object]:
        async with self.stage.database.connection() as connection:
            rows = await connection.fetch(
                "SELECT inputs FROM jobs WHERE task_uid = $1 ORDER BY seq", self.steps[step].uid
            )
        return [row["inputs"] for row in rows]

    def is_sent(self, step: str) -> bool:
        return self.steps[step].uid in self.stage.tasks

    async def state(self, step: str) -> TaskState:
        return (await self.stage.status(self.steps[step])).state

    def step_of(self, job: ClaimedJob) -> str:
        return next(name for name, task in self.steps.items() if task.uid == job.task_uid)

    async def run_all(self, pilot: UUID) -> list[tuple[str, int]]:
        """Run all jobs one after the other, and return them in the order of their leases."""
        done = []
        while jobs := await self.stage.lease(pilot):
            await self.stage.finish(pilot, *jobs)
            done += [(self.step_of(job), job.seq) for job in jobs]
        return done
