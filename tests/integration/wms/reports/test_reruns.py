"""A rerun takes over finished jobs with their outputs, with the real DMS."""

from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from sluice.clients.dms import DmsClient
from sluice.contracts.common.states import InputMode, JobState, TaskState
from sluice.contracts.jobs.tasks import ReusedTask, Task, TaskInput, TaskOutput
from sluice.contracts.pilots.reports import AttemptReport
from sluice.contracts.templates.plan import Boundary
from tests.integration.wms.catalogue import deliver_files, register_output
from tests.integration.wms.splitting.split_tasks import (
    DyingDmsClient,
    ProcessKilled,
    accept_new_task,
    make_dataset,
)
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.usecases.leasing.explain_job import explain_job
from wms.usecases.reports.check_outputs import OutputCheck
from wms.usecases.splitting.split_waiting_tasks import split_waiting_tasks


class TaskWithRerun:
    """A task over eight files, and a rerun that takes over its finished jobs."""

    def __init__(self, wms: WmsFixture, dms: DmsClient, folder: Path) -> None:
        self.wms, self.dms, self.folder = wms, dms, folder

    async def make_task(self, **more: object) -> Task:
        out, side = await register_output(self.dms), await register_output(self.dms)
        filtered = TaskOutput(
            port="side", dat_out_uid=side, dat_stor_url=f"file://{self.folder}", dat_out_url=f"file://{self.folder}/{side}",
            optional=True,
        )  # fmt: skip
        folder = {
            "dat_stor_url": f"file://{self.folder}",
            "dat_out_url": f"file://{self.folder}/{out}",
        }
        return await accept_new_task(
            self.wms,
            make_task(dat_out_uid=out, side_outputs=[filtered], **{"retry": 1, **folder, **more}),
        )

    async def run_first(self, *, fail: set[int], deliver: bool = True, **more: object) -> Task:
        """Run the first task. Jobs ``fail`` fail, and other even jobs fill the port ``side``."""
        task = await self.make_task(**more)
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
            await self.deliver_files()
        return task

    async def deliver_files(self) -> None:
        await deliver_files(self.wms, self.dms)

    async def list_files(self, uid: UUID) -> list[tuple[int, str]]:
        return [
            (file.seq, file.url.rsplit("/", 2)[1])
            for file in (await self.dms.list_files(uid)).files
        ]


@pytest.fixture
def rerun_task(wms: WmsFixture, dms: DmsClient, tmp_path: Path) -> TaskWithRerun:
    return TaskWithRerun(wms, dms, tmp_path)


def reuse_jobs(task: Task) -> ReusedTask:
    return ReusedTask(
        task=task.uid, outputs={output.port: output.dat_out_uid for output in task.outputs}
    )


async def test_jobs_whose_outputs_are_lost_run_again(rerun_task: TaskWithRerun) -> None:
    uid = await make_dataset(rerun_task.dms, rerun_task.folder, files=8)
    first = await rerun_task.run_first(fail={2}, dat_in_uid=uid)
    (intact_file,) = [
        file
        for file in (await rerun_task.dms.list_files(first.main_output.dat_out_uid)).files
        if file.seq == 3
    ]
    path = Path(intact_file.url.removeprefix("file://"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * intact_file.size)  # noqa: ASYNC240 - a temporary folder
    second = await rerun_task.make_task(dat_in_uid=uid, taken_over=reuse_jobs(first))
    checking_wms = replace(
        rerun_task.wms.context, output_check=OutputCheck(rerun_task.dms, content=False)
    )
    await split_waiting_tasks(checking_wms, rerun_task.dms)
    status = await rerun_task.wms.status(second)
    assert (status.finished, status.ready) == (1, 7), "jobs with lost outputs were taken over"


async def test_rerun_runs_only_failed_jobs_and_its_output_is_complete_and_ordered(
    rerun_task: TaskWithRerun,
) -> None:
    """Invariants 5 and 8: counts add up, and files keep their order."""
    uid = await make_dataset(rerun_task.dms, rerun_task.folder, files=8)
    first = await rerun_task.run_first(fail={2, 5}, dat_in_uid=uid)
    assert (await rerun_task.wms.status(first)).state is TaskState.FAILED
    second = await rerun_task.make_task(dat_in_uid=uid, taken_over=reuse_jobs(first))
    await split_waiting_tasks(rerun_task.wms.context, rerun_task.dms, page=3)
    status = await rerun_task.wms.status(second)
    assert (status.state, status.total, status.finished, status.ready) == (
        TaskState.ACTIVE,
        8,
        6,
        2,
    )
    pilot = await rerun_task.wms.add_pilot()
    jobs = await rerun_task.wms.lease(pilot, 100)
    assert [job.seq for job in jobs] == [2, 5]
    await rerun_task.wms.finish(pilot, *jobs)
    await rerun_task.deliver_files()
    assert (await rerun_task.wms.status(second)).state is TaskState.FINISHED
    assert (await rerun_task.wms.states(second)) == {JobState.FINISHED: 8}
    assert [seq for seq, _ in await rerun_task.list_files(second.main_output.dat_out_uid)] == list(
        range(8)
    )
    where = {
        seq
        for seq, folder in await rerun_task.list_files(second.main_output.dat_out_uid)
        if folder == str(second.main_output.dat_out_uid)
    }
    assert where == {2, 5}, "files that were taken over have moved"
    assert [seq for seq, _ in await rerun_task.list_files(second.outputs[1:][0].dat_out_uid)] == [
        0,
        2,
        4,
        5,
        6,
    ]
    for out in second.outputs:
        assert (await rerun_task.dms.get_dataset(out.dat_out_uid)).state.readable, (
            "the output is not closed at its number of files"
        )


async def test_counts_in_outputs_that_are_taken_over_are_added_once(
    rerun_task: TaskWithRerun,
) -> None:
    uid = await make_dataset(rerun_task.dms, rerun_task.folder, files=4)
    first = await rerun_task.make_task(
        dat_in_uid=uid, boundary=Boundary(minimum=0.5, sufficient=1.0)
    )
    await split_waiting_tasks(rerun_task.wms.context, rerun_task.dms)
    pilot = await rerun_task.wms.add_pilot()
    *done, failing = await rerun_task.wms.lease(pilot, 4)
    for _ in range(2):  # reported twice
        await rerun_task.wms.report(
            pilot,
            *(add_counts(rerun_task.wms.make_report(job), events=10**job.seq) for job in done),
        )
    await rerun_task.wms.fail(pilot, failing)
    await rerun_task.deliver_files()
    second = await rerun_task.make_task(dat_in_uid=uid, taken_over=reuse_jobs(first))
    await split_waiting_tasks(rerun_task.wms.context, rerun_task.dms)
    [remaining_job] = await rerun_task.wms.lease(pilot, 4)
    await rerun_task.wms.report(
        pilot, add_counts(rerun_task.wms.make_report(remaining_job), events=1000)
    )
    await rerun_task.deliver_files()
    produced = [
        (await rerun_task.dms.get_dataset(task.main_output.dat_out_uid)).meta["produced"]["events"]
        for task in (first, second)
    ]
    assert produced == [111, 1111]


def add_counts(report: AttemptReport, **counts: int) -> AttemptReport:
    return report.model_copy(
        update={"outputs": [file.model_copy(update={"counts": counts}) for file in report.outputs]}
    )


async def test_rerun_that_takes_over_all_jobs_ends_at_once(rerun_task: TaskWithRerun) -> None:
    uid = await make_dataset(rerun_task.dms, rerun_task.folder, files=4)
    first = await rerun_task.run_first(fail=set(), dat_in_uid=uid)
    second = await rerun_task.make_task(dat_in_uid=uid, taken_over=reuse_jobs(first))
    await split_waiting_tasks(rerun_task.wms.context, rerun_task.dms, page=2)
    await rerun_task.deliver_files()
    assert (await rerun_task.wms.status(second)).reason == "4 of 4 jobs finished"
    assert len(await rerun_task.list_files(second.main_output.dat_out_uid)) == 4
    third = await rerun_task.make_task(dat_in_uid=uid, taken_over=reuse_jobs(second))
    await split_waiting_tasks(rerun_task.wms.context, rerun_task.dms)
    assert (await rerun_task.wms.status(third)).state is TaskState.FINISHED, (
        "jobs that were taken over were not taken over again"
    )
    async with rerun_task.wms.database.connection() as connection:
        job = await connection.fetchval(
            "SELECT id FROM jobs WHERE task_uid = $1 AND seq = 1", third.uid
        )
    explanation = (await explain_job(rerun_task.wms.context, job)).text
    assert explanation.startswith("Finished: taken over from job ")


async def test_boundary_is_judged_over_new_jobs_and_jobs_taken_over(
    rerun_task: TaskWithRerun,
) -> None:
    uid = await make_dataset(rerun_task.dms, rerun_task.folder, files=8)
    first = await rerun_task.run_first(fail={0, 1}, dat_in_uid=uid)
    assert (await rerun_task.wms.status(first)).finished == 6
    second = await rerun_task.make_task(
        dat_in_uid=uid,
        taken_over=reuse_jobs(first),
        boundary=Boundary(minimum=0.75, sufficient=1.0),
    )
    await split_waiting_tasks(rerun_task.wms.context, rerun_task.dms, page=3)
    pilot = await rerun_task.wms.add_pilot()
    await rerun_task.wms.fail(pilot, *await rerun_task.wms.lease(pilot, 100))
    status = await rerun_task.wms.status(second)
    assert (status.state, status.finished, status.failed) == (TaskState.FINISHED, 6, 2)


async def test_splitter_killed_at_every_page_takes_over_each_job_once(
    rerun_task: TaskWithRerun,
) -> None:
    """Invariants 3 and 7: the DMS may have got the files of a page before the kill."""
    uid = await make_dataset(rerun_task.dms, rerun_task.folder, files=8)
    first = await rerun_task.run_first(fail={3}, dat_in_uid=uid)
    second = await rerun_task.make_task(dat_in_uid=uid, taken_over=reuse_jobs(first))
    killed_count = 0
    for pages in range(1, 12):
        try:
            await split_waiting_tasks(
                rerun_task.wms.context, DyingDmsClient(rerun_task.dms, pages=pages), page=3
            )
        except ProcessKilled:
            killed_count += 1
            await rerun_task.wms.execute(
                "UPDATE tasks SET split_until = now(), split_checked_at = NULL"
                " WHERE ended_at IS NULL"
            )
    assert killed_count >= 3
    pilot = await rerun_task.wms.add_pilot()
    [job] = await rerun_task.wms.lease(pilot, 100)
    assert job.seq == 3
    await rerun_task.wms.finish(pilot, job)
    await rerun_task.deliver_files()
    assert [seq for seq, _ in await rerun_task.list_files(second.main_output.dat_out_uid)] == list(
        range(8)
    )
    assert (await rerun_task.wms.status(second)).finished == 8


async def test_jobs_with_other_inputs_run_again(rerun_task: TaskWithRerun) -> None:
    uid = await make_dataset(rerun_task.dms, rerun_task.folder, files=4)
    other = await make_dataset(rerun_task.dms, rerun_task.folder / "b", files=6)
    shared = TaskInput(port="all", dat_in_uid=uid, mode=InputMode.ALL)
    first = await rerun_task.run_first(fail=set(), dat_in_uid=uid, side_inputs=[shared])
    elsewhere = await rerun_task.make_task(
        dat_in_uid=other, side_inputs=[shared], taken_over=reuse_jobs(first)
    )
    changed_task = shared.model_copy(update={"dat_in_uid": other})
    neighbour_task = await rerun_task.make_task(
        dat_in_uid=uid, side_inputs=[changed_task], taken_over=reuse_jobs(first)
    )
    same = await rerun_task.make_task(
        dat_in_uid=uid, side_inputs=[shared], taken_over=reuse_jobs(first)
    )
    await split_waiting_tasks(rerun_task.wms.context, rerun_task.dms)
    assert [
        (await rerun_task.wms.status(task)).ready for task in (elsewhere, neighbour_task, same)
    ] == [
        6,
        4,
        0,
    ]


async def test_rerun_waits_for_files_that_the_catalogue_does_not_know_yet(
    rerun_task: TaskWithRerun,
) -> None:
    uid = await make_dataset(rerun_task.dms, rerun_task.folder, files=4)
    first = await rerun_task.run_first(fail={1}, dat_in_uid=uid, deliver=False)
    second = await rerun_task.make_task(dat_in_uid=uid, taken_over=reuse_jobs(first))
    await split_waiting_tasks(rerun_task.wms.context, rerun_task.dms)
    assert (
        "whose files are to be taken over, is still open"
        in (await rerun_task.wms.status(second)).reason
    )
    await rerun_task.deliver_files()
    await split_waiting_tasks(rerun_task.wms.context, rerun_task.dms)
    status = await rerun_task.wms.status(second)
    assert (status.finished, status.ready) == (3, 1)


async def test_rerun_fails_if_the_files_to_take_over_are_deleted(rerun_task: TaskWithRerun) -> None:
    uid = await make_dataset(rerun_task.dms, rerun_task.folder, files=4)
    first = await rerun_task.run_first(fail={1}, dat_in_uid=uid)
    second = await rerun_task.make_task(dat_in_uid=uid, taken_over=reuse_jobs(first))
    await rerun_task.dms.delete_dataset(first.main_output.dat_out_uid)
    await split_waiting_tasks(rerun_task.wms.context, rerun_task.dms)
    status = await rerun_task.wms.status(second)
    assert status.state is TaskState.FAILED
    assert "whose files were to be taken over, is deleting" in status.reason
