"""A rerun takes over finished jobs with their outputs, with the real DMS."""

from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from sluice.clients.dms import DmsClient
from sluice.contracts.common.states import InputMode, JobState, TaskState
from sluice.contracts.jobs.tasks import ReusedTask, Task, TaskInput, TaskOutput
from sluice.contracts.pilots.pilots import AttemptReport
from sluice.contracts.templates.plan import Boundary
from tests.integration.wms.catalogue import deliver, new_output
from tests.integration.wms.splitting.split_tasks import (
    DyingDmsClient,
    ProcessKilled,
    accept,
    make_dataset,
)
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.usecases.leasing.explain_job import explain_job
from wms.usecases.reports.check_outputs import OutputCheck
from wms.usecases.splitting.split_task import split_waiting_tasks


class TaskWithRerun:
    """A task over eight files, and a rerun that takes over its finished jobs."""

    def __init__(self, wms: WmsFixture, dms: DmsClient, folder: Path) -> None:
        self.wms, self.dms, self.folder = wms, dms, folder

    async def task(self, **more: object) -> Task:
        out, side = await new_output(self.dms), await new_output(self.dms)
        filtered = TaskOutput(
            port="side", dat_out_uid=side, dat_stor_url=f"file://{self.folder}", dat_out_url=f"file://{self.folder}/{side}",
            optional=True,
        )  # fmt: skip
        folder = {
            "dat_stor_url": f"file://{self.folder}",
            "dat_out_url": f"file://{self.folder}/{out}",
        }
        return await accept(
            self.wms,
            make_task(dat_out_uid=out, side_outputs=[filtered], **{"retry": 1, **folder, **more}),
        )

    async def first(self, *, fail: set[int], deliver: bool = True, **more: object) -> Task:
        """Run the first task. Jobs ``fail`` fail, and other even jobs fill the port ``side``."""
        task = await self.task(**more)
        await split_waiting_tasks(self.wms.context, self.dms)
        pilot = await self.wms.add_pilot()
        for job in sorted(
            await self.wms.lease(pilot, 100), key=lambda job: job.seq in fail
        ):  # a failure ends the task
            report = self.wms.make_report(job)
            files = [file for file in report.outputs if file.port != "side" or job.seq % 2 == 0]
            await (
                self.wms.fail(pilot, job)
                if job.seq in fail
                else self.wms.report(pilot, report.model_copy(update={"outputs": files}))
            )
        if deliver:
            await self.deliver()
        return task

    async def deliver(self) -> None:
        await deliver(self.wms, self.dms)

    async def files(self, uid: UUID) -> list[tuple[int, str]]:
        return [
            (file.seq, file.url.rsplit("/", 2)[1])
            for file in (await self.dms.list_files(uid)).files
        ]


@pytest.fixture
def twice(wms: WmsFixture, dms: DmsClient, tmp_path: Path) -> TaskWithRerun:
    return TaskWithRerun(wms, dms, tmp_path)


def over(task: Task) -> ReusedTask:
    return ReusedTask(
        task=task.uid, outputs={output.port: output.dat_out_uid for output in task.outputs}
    )


async def test_jobs_whose_outputs_are_lost_run_again(twice: TaskWithRerun) -> None:
    uid = await make_dataset(twice.dms, twice.folder, files=8)
    first = await twice.first(fail={2}, dat_in_uid=uid)
    (intact_file,) = [
        file
        for file in (await twice.dms.list_files(first.main_output.dat_out_uid)).files
        if file.seq == 3
    ]
    path = Path(intact_file.url.removeprefix("file://"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * intact_file.size)  # noqa: ASYNC240 - a temporary folder
    second = await twice.task(dat_in_uid=uid, taken_over=over(first))
    looking = replace(twice.wms.context, output_check=OutputCheck(twice.dms, content=False))
    await split_waiting_tasks(looking, twice.dms)
    status = await twice.wms.status(second)
    assert (status.finished, status.ready) == (1, 7), "jobs with lost outputs were taken over"


async def test_rerun_runs_only_failed_jobs_and_its_output_is_complete_and_ordered(
    twice: TaskWithRerun,
) -> None:
    """Invariants 5 and 8: counts add up, and files keep their order."""
    uid = await make_dataset(twice.dms, twice.folder, files=8)
    first = await twice.first(fail={2, 5}, dat_in_uid=uid)
    assert (await twice.wms.status(first)).state is TaskState.FAILED
    second = await twice.task(dat_in_uid=uid, taken_over=over(first))
    await split_waiting_tasks(twice.wms.context, twice.dms, page=3)
    status = await twice.wms.status(second)
    assert (status.state, status.total, status.finished, status.ready) == (
        TaskState.ACTIVE,
        8,
        6,
        2,
    )
    pilot = await twice.wms.add_pilot()
    jobs = await twice.wms.lease(pilot, 100)
    assert [job.seq for job in jobs] == [2, 5]
    await twice.wms.finish(pilot, *jobs)
    await twice.deliver()
    assert (await twice.wms.status(second)).state is TaskState.FINISHED
    assert (await twice.wms.states(second)) == {JobState.FINISHED: 8}
    assert [seq for seq, _ in await twice.files(second.main_output.dat_out_uid)] == list(range(8))
    where = {
        seq
        for seq, folder in await twice.files(second.main_output.dat_out_uid)
        if folder == str(second.main_output.dat_out_uid)
    }
    assert where == {2, 5}, "files that were taken over have moved"
    assert [seq for seq, _ in await twice.files(second.outputs[1:][0].dat_out_uid)] == [
        0,
        2,
        4,
        5,
        6,
    ]
    for out in second.outputs:
        assert (await twice.dms.get_dataset(out.dat_out_uid)).state.readable, (
            "the output is not closed at its number of files"
        )


async def test_counts_in_outputs_that_are_taken_over_are_added_once(
    twice: TaskWithRerun,
) -> None:
    uid = await make_dataset(twice.dms, twice.folder, files=4)
    first = await twice.task(dat_in_uid=uid, boundary=Boundary(minimum=0.5, sufficient=1.0))
    await split_waiting_tasks(twice.wms.context, twice.dms)
    pilot = await twice.wms.add_pilot()
    *done, failing = await twice.wms.lease(pilot, 4)
    for _ in range(2):  # reported twice
        await twice.wms.report(
            pilot, *(counted(twice.wms.make_report(job), events=10**job.seq) for job in done)
        )
    await twice.wms.fail(pilot, failing)
    await twice.deliver()
    second = await twice.task(dat_in_uid=uid, taken_over=over(first))
    await split_waiting_tasks(twice.wms.context, twice.dms)
    [left] = await twice.wms.lease(pilot, 4)
    await twice.wms.report(pilot, counted(twice.wms.make_report(left), events=1000))
    await twice.deliver()
    produced = [
        (await twice.dms.get_dataset(task.main_output.dat_out_uid)).meta["produced"]["events"]
        for task in (first, second)
    ]
    assert produced == [111, 1111]


def counted(report: AttemptReport, **counts: int) -> AttemptReport:
    return report.model_copy(
        update={"outputs": [file.model_copy(update={"counts": counts}) for file in report.outputs]}
    )


async def test_rerun_that_takes_over_all_jobs_ends_at_once(twice: TaskWithRerun) -> None:
    uid = await make_dataset(twice.dms, twice.folder, files=4)
    first = await twice.first(fail=set(), dat_in_uid=uid)
    second = await twice.task(dat_in_uid=uid, taken_over=over(first))
    await split_waiting_tasks(twice.wms.context, twice.dms, page=2)
    await twice.deliver()
    assert (await twice.wms.status(second)).reason == "4 of 4 jobs finished"
    assert len(await twice.files(second.main_output.dat_out_uid)) == 4
    third = await twice.task(dat_in_uid=uid, taken_over=over(second))
    await split_waiting_tasks(twice.wms.context, twice.dms)
    assert (await twice.wms.status(third)).state is TaskState.FINISHED, (
        "jobs that were taken over were not taken over again"
    )
    async with twice.wms.database.connection() as connection:
        job = await connection.fetchval(
            "SELECT id FROM jobs WHERE task_uid = $1 AND seq = 1", third.uid
        )
    explanation = (await explain_job(twice.wms.context, job)).text
    assert explanation.startswith("Finished: taken over from job ")


async def test_boundary_is_judged_over_new_jobs_and_jobs_taken_over(twice: TaskWithRerun) -> None:
    uid = await make_dataset(twice.dms, twice.folder, files=8)
    first = await twice.first(fail={0, 1}, dat_in_uid=uid)
    assert (await twice.wms.status(first)).finished == 6
    second = await twice.task(
        dat_in_uid=uid, taken_over=over(first), boundary=Boundary(minimum=0.75, sufficient=1.0)
    )
    await split_waiting_tasks(twice.wms.context, twice.dms, page=3)
    pilot = await twice.wms.add_pilot()
    await twice.wms.fail(pilot, *await twice.wms.lease(pilot, 100))
    status = await twice.wms.status(second)
    assert (status.state, status.finished, status.failed) == (TaskState.FINISHED, 6, 2)


async def test_splitter_killed_at_every_page_takes_over_each_job_once(twice: TaskWithRerun) -> None:
    """Invariants 3 and 7: the DMS may have got the files of a page before the kill."""
    uid = await make_dataset(twice.dms, twice.folder, files=8)
    first = await twice.first(fail={3}, dat_in_uid=uid)
    second = await twice.task(dat_in_uid=uid, taken_over=over(first))
    died = 0
    for pages in range(1, 12):
        try:
            await split_waiting_tasks(
                twice.wms.context, DyingDmsClient(twice.dms, pages=pages), page=3
            )
        except ProcessKilled:
            died += 1
            await twice.wms.execute(
                "UPDATE tasks SET split_until = now(), split_checked_at = NULL"
                " WHERE ended_at IS NULL"
            )
    assert died >= 3
    pilot = await twice.wms.add_pilot()
    [job] = await twice.wms.lease(pilot, 100)
    assert job.seq == 3
    await twice.wms.finish(pilot, job)
    await twice.deliver()
    assert [seq for seq, _ in await twice.files(second.main_output.dat_out_uid)] == list(range(8))
    assert (await twice.wms.status(second)).finished == 8


async def test_jobs_with_other_inputs_run_again(twice: TaskWithRerun) -> None:
    uid = await make_dataset(twice.dms, twice.folder, files=4)
    other = await make_dataset(twice.dms, twice.folder / "b", files=6)
    shared = TaskInput(port="all", dat_in_uid=uid, mode=InputMode.ALL)
    first = await twice.first(fail=set(), dat_in_uid=uid, side_inputs=[shared])
    elsewhere = await twice.task(dat_in_uid=other, side_inputs=[shared], taken_over=over(first))
    differs = shared.model_copy(update={"dat_in_uid": other})
    beside = await twice.task(dat_in_uid=uid, side_inputs=[differs], taken_over=over(first))
    same = await twice.task(dat_in_uid=uid, side_inputs=[shared], taken_over=over(first))
    await split_waiting_tasks(twice.wms.context, twice.dms)
    assert [(await twice.wms.status(task)).ready for task in (elsewhere, beside, same)] == [
        6,
        4,
        0,
    ]


async def test_rerun_waits_for_files_that_the_catalogue_does_not_know_yet(
    twice: TaskWithRerun,
) -> None:
    uid = await make_dataset(twice.dms, twice.folder, files=4)
    first = await twice.first(fail={1}, dat_in_uid=uid, deliver=False)
    second = await twice.task(dat_in_uid=uid, taken_over=over(first))
    await split_waiting_tasks(twice.wms.context, twice.dms)
    assert (
        "whose files are to be taken over, is still open" in (await twice.wms.status(second)).reason
    )
    await twice.deliver()
    await split_waiting_tasks(twice.wms.context, twice.dms)
    status = await twice.wms.status(second)
    assert (status.finished, status.ready) == (3, 1)


async def test_rerun_fails_if_the_files_to_take_over_are_deleted(twice: TaskWithRerun) -> None:
    uid = await make_dataset(twice.dms, twice.folder, files=4)
    first = await twice.first(fail={1}, dat_in_uid=uid)
    second = await twice.task(dat_in_uid=uid, taken_over=over(first))
    await twice.dms.delete_dataset(first.main_output.dat_out_uid)
    await split_waiting_tasks(twice.wms.context, twice.dms)
    status = await twice.wms.status(second)
    assert status.state is TaskState.FAILED
    assert "whose files were to be taken over, is deleting" in status.reason
