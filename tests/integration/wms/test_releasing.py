"""Files in between are released by the jobs that read them, in the transaction that ends these:
those of finished jobs alone, so that what failed can be tried again (invariant 4)."""

from pathlib import Path
from uuid import UUID, uuid4

import pytest

from sluice.clients.dms import DmsClient
from sluice.contracts.messages import InputReaders
from sluice.contracts.plan import Boundary
from sluice.contracts.states import ErrorClass, JobState, TaskState
from sluice.contracts.tasks import ReusedTask, Task
from sluice.servicekit.database import Database
from tests.integration.wms.catalogue import deliver, deliver_releases, new_output, releases
from tests.integration.wms.line import Line
from tests.integration.wms.stage import Stage
from tests.integration.wms.test_flow import join
from tests.integration.wms.test_gathering import gather
from tests.integration.wms.test_splitting import Dying, Killed, accept
from wms.domain.tree_merge import SPAN
from wms.usecases.accept_task import accept_readers
from wms.usecases.cancel_task import cancel_task
from wms.usecases.retry_jobs import retry_job
from wms.usecases.split_task import split_waiting_tasks


@pytest.fixture
def line(stage: Stage, dms: DmsClient) -> Line:
    return Line(stage, dms)


async def tell(line: Line, step: str, **readers: int) -> None:
    """How many tasks read the output of each of these steps, which ``step`` reads."""
    told = {line.steps[name].main_output.dat_out_uid: count for name, count in readers.items()}
    async with line.stage.database.transaction() as transaction:
        await accept_readers(transaction, InputReaders(task_uid=line.steps[step].uid, readers=told))


async def given_up(line: Line) -> list[tuple[str, str, int, list[int]]]:
    """(step that wrote them, step that is done with them, how many read them, numbers), in
    order."""
    wrote = {task.main_output.dat_out_uid: name for name, task in line.steps.items()}
    names = {task.uid: name for name, task in line.steps.items()}
    return [
        (wrote[said.dataset_uid], names[said.reader], said.readers, list(said.seqs))
        for said in await releases(line.stage)
    ]


async def test_a_finished_job_gives_up_what_it_read(line: Line, tmp_path: Path) -> None:
    await line.lay(tmp_path, files=4)
    await tell(line, "b", a=1)
    await line.send("a", "b")
    pilot = await line.stage.add_pilot()
    jobs = await line.stage.lease(pilot, 4)
    await line.stage.finish(pilot, jobs[2], jobs[0], jobs[3])
    assert await given_up(line) == [], "nothing is told of the first input"
    await line.stage.finish(pilot, *(await line.stage.lease(pilot, 2)))
    assert await given_up(line) == [("a", "b", 1, [0, 2])], "one message for both"
    await line.stage.finish(pilot, jobs[1])
    await line.run_all(pilot)
    assert sorted(seqs for *_, seqs in await given_up(line)) == [[0, 2], [1], [3]]


async def test_what_finished_before_it_was_told_goes_then(line: Line, tmp_path: Path) -> None:
    """The message on readers may come after the first jobs have ended."""
    await (await line.lay(tmp_path, files=3)).send("a", "b")
    pilot = await line.stage.add_pilot()
    jobs = await line.stage.lease(pilot, 3)
    await line.stage.finish(pilot, *jobs[:2])
    await line.run_all(pilot)
    assert await given_up(line) == []
    for _ in range(2):
        await tell(line, "b", a=1)
    assert await given_up(line) == [("a", "b", 1, [0, 1])], "once"
    await line.stage.finish(pilot, jobs[2])
    await line.run_all(pilot)
    assert (await given_up(line))[1:] == [("a", "b", 1, [2])]


async def test_of_what_is_not_told_nothing_goes(line: Line, tmp_path: Path) -> None:
    await (await line.lay(tmp_path, files=2)).send("a", "b", "c")
    await tell(line, "c", b=1)
    await line.run_all(await line.stage.add_pilot())
    assert {said[:2] for said in await given_up(line)} == {("b", "c")}


async def test_several_that_read_it_each_say_that_they_are_done(line: Line, tmp_path: Path) -> None:
    await line.lay(tmp_path, files=1)
    read = line.steps["b"].main_input
    line.steps["c"] = line.steps["c"].model_copy(update={"inputs": [read]})
    for step in "bc":
        await tell(line, step, a=2)
    await line.send("a", "b", "c")
    await line.run_all(await line.stage.add_pilot())
    assert sorted(await given_up(line)) == [("a", "b", 2, [0]), ("a", "c", 2, [0])]


async def test_two_that_are_joined_are_given_up_together(line: Line, tmp_path: Path) -> None:
    """By number, whichever is the main one."""
    await line.lay(tmp_path, files=2)
    joined = await join(line, first="original")
    readers = {given.dat_in_uid: number for number, given in enumerate(joined.inputs, 1)}
    async with line.stage.database.transaction() as transaction:
        await accept_readers(transaction, InputReaders(task_uid=joined.uid, readers=readers))
    await line.send("a", "b")
    await line.run_all(await line.stage.add_pilot())
    said = await releases(line.stage)
    assert sorted((one.readers, one.seqs) for one in said) == [
        (1, [0]),
        (1, [1]),
        (2, [0]),
        (2, [1]),
    ]
    assert all(readers[one.dataset_uid] == one.readers for one in said)


async def test_invariant_4_what_a_job_needs_to_be_tried_again_stays(
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
    assert await given_up(line) == [], "they are tried again"
    await line.stage.finish(pilot, good)
    for job in await line.stage.lease(pilot, 2):
        await line.stage.fail(pilot, job)
    [job] = await line.stage.lease(pilot, 2)
    await line.stage.fail(pilot, job)
    assert await line.seqs("b", JobState.FAILED) == [1, 2]
    assert await given_up(line) == [("a", "b", 1, [0])]
    await retry_job(line.stage.context, bad.id)
    await line.stage.finish(pilot, *(await line.stage.lease(pilot)))
    assert (await given_up(line))[1:] == [("a", "b", 1, [1])]


async def test_a_job_that_is_held_keeps_what_it_reads(line: Line, tmp_path: Path) -> None:
    await line.lay(tmp_path, files=1)
    await tell(line, "b", a=1)
    await line.send("a", "b")
    pilot = await line.stage.add_pilot()
    await line.stage.finish(pilot, *(await line.stage.lease(pilot)))
    for _ in range(line.stage.context.terms.losses):
        [job] = await line.stage.lease(pilot)
        await line.stage.fail(pilot, job, error=ErrorClass.PILOT_LOST)
    assert await line.seqs("b", JobState.HELD) == [0]
    assert await given_up(line) == []


async def test_invariant_3_a_stale_report_gives_nothing_up(line: Line, tmp_path: Path) -> None:
    await line.lay(tmp_path, files=1)
    await tell(line, "b", a=1)
    await line.send("a", "b")
    dead, alive = await line.stage.add_pilot(name="dead"), await line.stage.add_pilot(name="alive")
    await line.stage.finish(alive, *(await line.stage.lease(alive)))
    [job] = await line.stage.lease(dead)
    await line.stage.overdue(job)
    await line.stage.expire()
    await line.stage.finish(dead, job)
    assert await given_up(line) == []
    [again] = await line.stage.lease(alive)
    for _ in range(2):
        await line.stage.finish(alive, again)
    await line.stage.finish(dead, job)
    assert await given_up(line) == [("a", "b", 1, [0])]


async def test_a_job_over_several_files_gives_up_all_of_them(line: Line, tmp_path: Path) -> None:
    await line.lay(tmp_path, files=7)
    gather(line, "b", "groups")
    await tell(line, "b", a=1)
    await line.send("a", "b")
    pilot = await line.stage.add_pilot()
    await line.run_all(pilot)
    await line.split()
    await line.run_all(pilot)
    assert [seqs for *_, seqs in await given_up(line)] == [[0, 1, 2], [3, 4, 5], [6]]


async def test_a_tree_gives_up_its_parts_as_they_are_joined(line: Line, tmp_path: Path) -> None:
    """A part is read by one job of the tree, and by nobody else."""
    await line.lay(tmp_path, files=7)
    gather(line, "b", "tree")
    await tell(line, "b", a=1)
    await line.send("a", "b")
    pilot = await line.stage.add_pilot()
    await line.run_all(pilot)
    await line.split()
    await line.run_all(pilot)
    assert await line.state("b") is TaskState.FINISHED
    said = await releases(line.stage)
    tree = line.steps["b"]
    of_parts = [list(one.seqs) for one in said if one.dataset_uid == tree.parts_uid]
    assert of_parts == [[0, 1, 2]]
    assert {one.readers for one in said} == {1}
    files = [one for one in said if one.dataset_uid == tree.main_input.dat_in_uid]
    assert [list(one.seqs) for one in files] == [[0, 1, 2], [3, 4, 5], [6]]
    parts = (await line.stage.sent()).files[UUID(str(tree.parts_uid))]
    assert sorted(seq for seq, _ in parts) == [0, 1, 2]
    assert max(seq for seq, _ in parts) < SPAN


async def test_nothing_goes_while_jobs_are_made_of_the_whole_data_set(
    line: Line, dms: DmsClient, tmp_path: Path
) -> None:
    """Whoever goes on after a crash reads it from its beginning."""
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
    assert await given_up(line) == []
    await line.stage.execute(
        "UPDATE tasks SET split_until = now(), split_checked_at = NULL WHERE uid = $1",
        line.steps["b"].uid,
    )
    await line.split()
    assert await line.state("b") is TaskState.ACTIVE
    await line.run_all(pilot)
    assert [seqs for *_, seqs in await given_up(line)] == [[6]]


async def test_what_is_known_of_a_task_goes_with_it(line: Line, tmp_path: Path) -> None:
    await line.lay(tmp_path, files=1)
    for _ in range(2):
        await tell(line, "b", a=1)
    await line.send("a", "b")
    await cancel_task(line.stage.context, line.steps["b"].uid)
    await tell(line, "b", a=1)
    async with line.stage.database.connection() as connection:
        assert await connection.fetchval("SELECT count(*) FROM input_readers") == 0


async def run_line(line: Line, folder: Path, *, files: int, bad: set[int]) -> None:
    """Steps ``a``, ``b`` and ``c``, each reading the one before; of ``b`` jobs ``bad`` fail, and
    the others' files are read by ``c``."""
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


async def once_more(line: Line, step: str, *, read: UUID) -> Task:
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


async def test_a_rerun_of_what_failed_does_without_files_that_are_gone(
    line: Line, dms: DmsClient, catalogue: Database, tmp_path: Path
) -> None:
    """Two steps whose finished jobs are taken over, in the first one's output most files are
    gone."""
    await run_line(line, tmp_path, files=6, bad={1, 4})
    await deliver(line.stage, dms)
    await deliver_releases(line.stage, catalogue)
    for step, left in (("a", [1, 4]), ("b", [])):
        found = await dms.files(line.steps[step].main_output.dat_out_uid)
        assert [file.seq for file in found.files] == left
    line.chain = uuid4()
    second = await once_more(line, "b", read=line.steps["a"].main_output.dat_out_uid)
    third = await once_more(line, "c", read=second.main_output.dat_out_uid)
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
    written = [await dms.files(task.main_output.dat_out_uid) for task in (second, third)]
    assert [[file.seq for file in page.files] for page in written] == [[1, 4], list(range(6))]
    between = await dms.dataset(second.main_output.dat_out_uid)
    assert (between.count_files, between.released, between.state.readable) == (6, 4, True)


async def test_invariant_4_a_step_that_needs_files_which_are_gone_does_not_run_without(
    line: Line, dms: DmsClient, catalogue: Database, tmp_path: Path
) -> None:
    """Whoever planned it did not know yet."""
    await run_line(line, tmp_path, files=4, bad={1})
    await deliver(line.stage, dms)
    await deliver_releases(line.stage, catalogue)
    line.chain = uuid4()
    read = line.steps["a"].main_output.dat_out_uid
    lacking = await once_more(line, "b", read=read)
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
