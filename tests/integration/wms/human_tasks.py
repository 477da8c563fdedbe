"""A human task over files, with its items and answers, and with the real DMS."""

from collections import Counter
from hashlib import sha256
from pathlib import Path

from sluice.clients.dms import DmsClient
from sluice.contracts.common.naming import output_name
from sluice.contracts.common.states import JobState, ReportAnswer
from sluice.contracts.human_tasks.annotation import AnsweredJob, HumanJob
from sluice.contracts.human_tasks.ask import Ask
from sluice.contracts.jobs.tasks import Task
from sluice.contracts.pilots.output_files import OutputFile
from tests.integration.wms.catalogue import register_output
from tests.integration.wms.splitting.split_tasks import accept_new_task, make_dataset
from tests.integration.wms.wms_fixture import CHECKSUM, NOW, WmsFixture, make_task
from wms.usecases.reports.accept_answers import accept_answers
from wms.usecases.reports.list_human_jobs import list_human_jobs
from wms.usecases.splitting.split_waiting_tasks import split_waiting_tasks

ASK = Ask(question="Is it sharp?", gold="known")


class HumanTasks:
    """A human task over a number of files."""

    def __init__(self, wms: WmsFixture, dms: DmsClient, folder: Path) -> None:
        self.wms, self.dms, self.folder = wms, dms, folder

    async def create_task(self, *, files: int, page: int = 2000, **more: object) -> Task:
        new_task = await self.create_waiting_task(files=files, **more)
        await split_waiting_tasks(self.wms.context, self.dms, page=page)
        return new_task

    async def create_waiting_task(self, *, files: int, **more: object) -> Task:
        fields = {"dat_in_uid": await make_dataset(self.dms, self.folder, files=files), **more}
        written = await register_output(self.dms)
        place = f"file://{self.folder}"
        return await accept_new_task(
            self.wms,
            make_task(
                **{
                    "ask": ASK,
                    "dat_out_uid": written,
                    "dat_stor_url": place,
                    "dat_out_url": f"{place}/{written}",
                    **fields,
                }
            ),
        )

    async def list_jobs(self, task: Task) -> list[HumanJob]:
        return (await list_human_jobs(self.wms.context, task.uid, after=0, limit=1000)).jobs

    async def answer(
        self, task: Task, *answers: AnsweredJob, at: WmsFixture | None = None
    ) -> list[ReportAnswer]:
        accepted = await accept_answers((at or self.wms).context, task.uid, answers)
        await self.count_states(task)
        assert [one.id for one in accepted] == [answer.id for answer in answers]
        return [one.answer for one in accepted]

    def write(self, answer: AnsweredJob, data: bytes) -> Path:
        path = Path(answer.output.url.removeprefix("file://"))
        path.parent.mkdir()
        path.write_bytes(data)
        return path

    async def count_states(self, task: Task) -> dict[JobState, int]:
        """Check that the counts of the task match its jobs."""
        status = await self.wms.status(task)
        counts = {state: getattr(status, state.value) for state in JobState}
        assert Counter(counts) == await self.wms.states(task)
        assert sum(counts.values()) == status.total
        return {state: number for state, number in counts.items() if number}


def make_answered_job(
    task: Task, job: HumanJob, *, url: str | None = None, data: bytes = b""
) -> AnsweredJob:
    name = output_name(job.seq, 1, "answer.json")
    output = OutputFile(
        port=task.main_output.port,
        name=name,
        size=len(data),
        checksum=f"sha256:{sha256(data).hexdigest()}" if data else CHECKSUM,
        url=url or f"{task.main_output.dat_out_url}/{name}",
    )
    return AnsweredJob(id=job.id, output=output, asked_at=NOW, answered_at=NOW)
