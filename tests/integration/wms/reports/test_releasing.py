"""Finished jobs release their inputs, and failed jobs keep theirs (invariant 4)."""

from pathlib import Path
from uuid import UUID, uuid4

import pytest

from sluice.clients.dms import DmsClient
from sluice.contracts.common.states import ErrorClass, JobState, TaskState
from sluice.contracts.jobs.tasks import ReusedTask, Task
from sluice.contracts.messages import DownstreamCounts
from sluice.contracts.templates.plan import Boundary
from sluice.servicekit.database import Database
from tests.integration.wms.catalogue import deliver, deliver_releases, new_output, releases
from tests.integration.wms.line import Line
from tests.integration.wms.splitting.test_flow import join
from tests.integration.wms.splitting.test_gathering import gather
from tests.integration.wms.splitting.test_splitting import Dying, Killed, accept
from tests.integration.wms.stage import Stage
from wms.domain.splitting.tree_merge import SPAN
from wms.usecases.reports.retry_jobs import retry_job
from wms.usecases.splitting.split_task import split_waiting_tasks
from wms.usecases.tasks.accept_task import accept_downstream_counts
from wms.usecases.tasks.cancel_task import cancel_task


@pytest.fixture
def line(stage: Stage, dms: DmsClient) -> Line:
    return Line(stage, dms)


async def tell(line: Line, step: str, **numbers: int) -> None:
    """Tell the WMS how many tasks read each of the outputs that ``step`` reads."""
    counts = {line.steps[name].main_output.dat_out_uid: count for name, count in numbers.items()}
    async with line.stage.database.transaction() as transaction:
        await accept_downstream_counts(
            transaction, DownstreamCounts(task_uid=line.steps[step].uid, counts=counts)
        )


async def list_releases(line: Line) -> list[tuple[str, str, int, list[int]]]:
    """Return upstream and downstream step, number of tasks and file numbers of each release."""
    wrote = {task.main_output.dat_out_uid: name for name, task in line.steps.items()}
    names = {task.uid: name for name, task in line.steps.items()}
    return [
        (
            wrote[release.dataset_uid],
            names[release.task_uid],
            release.downstream_count,
            list(release.seqs),
        )
        for release in await releases(line.stage)
    ]


async def test_finished_job_releases_its_inputs(line: Line, tmp_path: Path) -> None:
    await line.lay(tmp_path, files=4)
    await tell(line, "b", a=1)
    await line.send("a", "b")
    pilot = await line.stage.add_pilot()
    jobs = await line.stage.lease(pilot, 4)
    await line.stage.finish(pilot, jobs[2], jobs[0], jobs[3])
    assert await list_releases(line) == [], "the input of the chain was released"
    await line.stage.finish(pilot, *(await line.stage.lease(pilot, 2)))
    assert await list_releases(line) == [("a", "b", 1, [0, 2])], (
        "the release of both files is not one message"
    )
    await line.stage.finish(pilot, jobs[1])
    await line.run_all(pilot)
    assert sorted(seqs for *_, seqs in await list_releases(line)) == [[0, 2], [1], [3]]


async def test_inputs_read_before_the_number_of_downstream_tasks_is_known_are_released_later(
    line: Line, tmp_path: Path
) -> None:
    """The message about the number of downstream tasks may come after the first jobs have ended."""
    await (await line.lay(tmp_path, files=3)).send("a", "b")
    pilot = await line.stage.add_pilot()
    jobs = await line.stage.lease(pilot, 3)
    await line.stage.finish(pilot, *jobs[:2])
    await line.run_all(pilot)
    assert await list_releases(line) == []
    for _ in range(2):
        await tell(line, "b", a=1)
    assert await list_releases(line) == [("a", "b", 1, [0, 1])], (
        "the files were not released exactly once"
    )
    await line.stage.finish(pilot, jobs[2])
    await line.run_all(pilot)
    assert (await list_releases(line))[1:] == [("a", "b", 1, [2])]


async def test_files_are_not_released_while_the_number_of_downstream_tasks_is_unknown(
    line: Line, tmp_path: Path
) -> None:
    await (await line.lay(tmp_path, files=2)).send("a", "b", "c")
    await tell(line, "c", b=1)
    await line.run_all(await line.stage.add_pilot())
    assert {release[:2] for release in await list_releases(line)} == {("b", "c")}


async def test_each_downstream_task_releases_its_inputs(line: Line, tmp_path: Path) -> None:
    await line.lay(tmp_path, files=1)
    read = line.steps["b"].main_input
    line.steps["c"] = line.steps["c"].model_copy(update={"inputs": [read]})
    for step in "bc":
        await tell(line, step, a=2)
    await line.send("a", "b", "c")
    await line.run_all(await line.stage.add_pilot())
    assert sorted(await list_releases(line)) == [("a", "b", 2, [0]), ("a", "c", 2, [0])]


async def test_joined_inputs_are_released_together(line: Line, tmp_path: Path) -> None:
    """The files have the same number, whichever input is the main input."""
    await line.lay(tmp_path, files=2)
    joined = await join(line, first="original")
    counts = {
        joined_input.dat_in_uid: number for number, joined_input in enumerate(joined.inputs, 1)
    }
    async with line.stage.database.transaction() as transaction:
        await accept_downstream_counts(
            transaction, DownstreamCounts(task_uid=joined.uid, counts=counts)
        )
    await line.send("a", "b")
    await line.run_all(await line.stage.add_pilot())
    sent_releases = await releases(line.stage)
    assert sorted((one.downstream_count, one.seqs) for one in sent_releases) == [
        (1, [0]),
        (1, [1]),
        (2, [0]),
        (2, [1]),
    ]
    assert all(counts[one.dataset_uid] == one.downstream_count for one in sent_releases)


async def test_invariant_4_inputs_of_jobs_that_can_be_retried_are_kept(
    line: Line, tmp_path: Path
) -> None:
    await line.lay(tmp_path, files=3, retry=2, boundary=Boundary(minimum=0.1, sufficient=1.0))
    await tell(line, "b", a=1)
    await line.send("a", "b")
    pilot = await line.stage.add_pilot()
    await line.stage.finish(pilot, *(await line.stage.lease(pilot, 3)))
    good, bad, lost = await line.stage.lease(pilot, 3)
    await line.stage.fail(pilot, bad)
    await line.stage.overdue(lost)
    await line.stage.expire()
    assert await list_releases(line) == [], "inputs of jobs that are tried again were released"
    await line.stage.finish(pilot, good)
    for job in await line.stage.lease(pilot, 2):
        await line.stage.fail(pilot, job)
    [job] = await line.stage.lease(pilot, 2)
    await line.stage.fail(pilot, job)
    assert await line.seqs("b", JobState.FAILED) == [1, 2]
    assert await list_releases(line) == [("a", "b", 1, [0])]
    await retry_job(line.stage.context, bad.id)
    await line.stage.finish(pilot, *(await line.stage.lease(pilot)))
    assert (await list_releases(line))[1:] == [("a", "b", 1, [1])]


async def test_held_job_keeps_its_inputs(line: Line, tmp_path: Path) -> None:
    await line.lay(tmp_path, files=1)
    await tell(line, "b", a=1)
    await line.send("a", "b")
    pilot = await line.stage.add_pilot()
    await line.stage.finish(pilot, *(await line.stage.lease(pilot)))
    for _ in range(line.stage.context.rules.losses):
        [job] = await line.stage.lease(pilot)
        await line.stage.fail(pilot, job, error=ErrorClass.PILOT_LOST)
    assert await line.seqs("b", JobState.QUARANTINED) == [0]
    assert await list_releases(line) == []


async def test_invariant_3_stale_report_releases_nothing(line: Line, tmp_path: Path) -> None:
    await line.lay(tmp_path, files=1)
    await tell(line, "b", a=1)
    await line.send("a", "b")
    dead, alive = await line.stage.add_pilot(name="dead"), await line.stage.add_pilot(name="alive")
    await line.stage.finish(alive, *(await line.stage.lease(alive)))
    [job] = await line.stage.lease(dead)
    await line.stage.overdue(job)
    await line.stage.expire()
    await line.stage.finish(dead, job)
    assert await list_releases(line) == []
    [again] = await line.stage.lease(alive)
    for _ in range(2):
        await line.stage.finish(alive, again)
    await line.stage.finish(dead, job)
    assert await list_releases(line) == [("a", "b", 1, [0])]


async def test_job_over_several_files_releases_all_of_them(line: Line, tmp_path: Path) -> None:
    await line.lay(tmp_path, files=7)
    gather(line, "b", "groups")
    await tell(line, "b", a=1)
    await line.send("a", "b")
    pilot = await line.stage.add_pilot()
    await line.run_all(pilot)
    await line.split()
    await line.run_all(pilot)
    assert [seqs for *_, seqs in await list_releases(line)] == [[0, 1, 2], [3, 4, 5], [6]]


async def test_tree_releases_its_parts_as_they_are_joined(line: Line, tmp_path: Path) -> None:
    """Only one job of the tree reads a part."""
    await line.lay(tmp_path, files=7)
    gather(line, "b", "tree")
    await tell(line, "b", a=1)
    await line.send("a", "b")
    pilot = await line.stage.add_pilot()
    await line.run_all(pilot)
    await line.split()
    await line.run_all(pilot)
    assert await line.state("b") is TaskState.FINISHED
    sent_releases = await releases(line.stage)
    tree = line.steps["b"]
    of_parts = [list(one.seqs) for one in sent_releases if one.dataset_uid == tree.parts_uid]
    assert of_parts == [[0, 1, 2]]
    assert {one.downstream_count for one in sent_releases} == {1}
    files = [one for one in sent_releases if one.dataset_uid == tree.main_input.dat_in_uid]
    assert [list(one.seqs) for one in files] == [[0, 1, 2], [3, 4, 5], [6]]
    parts = (await line.stage.sent()).files[UUID(str(tree.parts_uid))]
    assert sorted(seq for seq, _ in parts) == [0, 1, 2]
    assert max(seq for seq, _ in parts) < SPAN


async def test_nothing_is_released_while_the_whole_data_set_is_split(
    line: Line, dms: DmsClient, tmp_path: Path
) -> None:
    """After a crash, another splitter reads the data set from its beginning."""
    await line.lay(tmp_path, files=7)
    await tell(line, "b", a=1)
    await line.send("a")
    pilot = await line.stage.add_pilot()
    await line.run_all(pilot)
    await deliver(line.stage, dms)
    await accept(line.stage, line.steps["b"])
    with pytest.raises(Killed):
        await split_waiting_tasks(line.stage.context, Dying(dms, pages=2), page=3)
    await line.run_all(pilot)
    assert await list_releases(line) == []
    await line.stage.execute(
        "UPDATE tasks SET split_until = now(), split_checked_at = NULL WHERE uid = $1",
        line.steps["b"].uid,
    )
    await line.split()
    assert await line.state("b") is TaskState.ACTIVE
    await line.run_all(pilot)
    assert [seqs for *_, seqs in await list_releases(line)] == [[6]]


async def test_number_of_downstream_tasks_is_deleted_with_its_task(
    line: Line, tmp_path: Path
) -> None:
    await line.lay(tmp_path, files=1)
    for _ in range(2):
        await tell(line, "b", a=1)
    await line.send("a", "b")
    await cancel_task(line.stage.context, line.steps["b"].uid)
    await tell(line, "b", a=1)
    async with line.stage.database.connection() as connection:
        assert await connection.fetchval("SELECT count(*) FROM downstream_counts") == 0


async def run_line(line: Line, folder: Path, *, files: int, bad: set[int]) -> None:
    """Run steps ``a``, ``b`` and ``c`` in a line. The jobs ``bad`` of ``b`` fail."""
    await line.lay(folder, files=files, retry=1, boundary=Boundary(minimum=0.1, sufficient=1.0))
    await tell(line, "b", a=1)
    await tell(line, "c", b=1)
    await line.send("a", "b", "c")
    pilot = await line.stage.add_pilot()
    while jobs := await line.stage.lease(pilot):
        [job] = jobs
        fails = line.step_of(job) == "b" and job.seq in bad
        await (line.stage.fail(pilot, job) if fails else line.stage.finish(pilot, job))
    for _ in range(3):
        await line.split()


async def add_rerun(line: Line, step: str, *, read: UUID) -> Task:
    before = line.steps[step]
    out = await new_output(line.dms)
    written = before.main_output.model_copy(update={"dat_out_uid": out})
    taken = ReusedTask(task=before.uid, outputs={written.port: before.main_output.dat_out_uid})
    again = before.model_copy(
        update={
            "uid": uuid4(),
            "chain_uid": line.chain,
            "inputs": [before.main_input.model_copy(update={"dat_in_uid": read})],
            "outputs": [written],
            "taken_over": taken,
            "log_out_uid": uuid4(),
        }
    )
    return await accept(line.stage, again)


async def test_rerun_of_failed_jobs_does_without_released_files(
    line: Line, dms: DmsClient, catalogue: Database, tmp_path: Path
) -> None:
    """Two steps reuse finished jobs, and most of the files that they read are released."""
    await run_line(line, tmp_path, files=6, bad={1, 4})
    await deliver(line.stage, dms)
    await deliver_releases(line.stage, catalogue)
    for step, left in (("a", [1, 4]), ("b", [])):
        files_page = await dms.list_files(line.steps[step].main_output.dat_out_uid)
        assert [file.seq for file in files_page.files] == left
    line.chain = uuid4()
    second = await add_rerun(line, "b", read=line.steps["a"].main_output.dat_out_uid)
    third = await add_rerun(line, "c", read=second.main_output.dat_out_uid)
    await line.split()
    pilot = await line.stage.add_pilot()
    jobs = await line.stage.lease(pilot, 100)
    assert [(job.task_uid, job.seq) for job in jobs] == [(second.uid, 1), (second.uid, 4)]
    await line.stage.finish(pilot, *jobs)
    await deliver(line.stage, dms)
    await line.split()
    jobs = await line.stage.lease(pilot, 100)
    assert [(job.task_uid, job.seq) for job in jobs] == [(third.uid, 1), (third.uid, 4)]
    await line.stage.finish(pilot, *jobs)
    await deliver(line.stage, dms)
    for task in (second, third):
        assert (await line.stage.status(task)).state is TaskState.FINISHED
        assert await line.stage.states(task) == {JobState.FINISHED: 6}
    written = [await dms.list_files(task.main_output.dat_out_uid) for task in (second, third)]
    assert [[file.seq for file in page.files] for page in written] == [[1, 4], list(range(6))]
    between = await dms.get_dataset(second.main_output.dat_out_uid)
    assert (between.count_files, between.released, between.state.readable) == (6, 4, True)


async def test_invariant_4_step_that_needs_released_files_fails(
    line: Line, dms: DmsClient, catalogue: Database, tmp_path: Path
) -> None:
    """The step was planned before the files were released."""
    await run_line(line, tmp_path, files=4, bad={1})
    await deliver(line.stage, dms)
    await deliver_releases(line.stage, catalogue)
    line.chain = uuid4()
    read = line.steps["a"].main_output.dat_out_uid
    lacking = await add_rerun(line, "b", read=read)
    plain = line.steps["b"].model_copy(update={"uid": uuid4(), "chain_uid": line.chain})
    await line.stage.execute(
        "UPDATE jobs SET inputs = jsonb_set(inputs, '{0,size}', '7')"
        " WHERE task_uid = $1 AND seq = 2",
        line.steps["b"].uid,
    )
    await accept(line.stage, plain)
    await line.split()
    for task, reason in ((lacking, "its job 2 has to run"), (plain, "3 files of its input")):
        status = await line.stage.status(task)
        assert status.state is TaskState.FAILED
        assert reason in status.reason
        assert "has to run again" in status.reason
