"""Finished jobs release their inputs, and failed jobs keep theirs (invariant 4)."""

from pathlib import Path
from uuid import UUID, uuid4

import pytest

from sluice.clients.dms import DmsClient
from sluice.contracts.common.states import ErrorClass, JobState, TaskState
from sluice.contracts.jobs.tasks import ReusedTask, Task
from sluice.contracts.messaging.messages import DownstreamCounts
from sluice.contracts.templates.plan import Boundary
from sluice.servicekit.database import Database
from tests.integration.wms.catalogue import (
    deliver_files,
    deliver_releases,
    list_release_messages,
    register_output,
)
from tests.integration.wms.chain_of_steps import ChainOfSteps
from tests.integration.wms.reports.downstream_counts import send_downstream_counts
from tests.integration.wms.splitting.gathering_steps import make_gathering_step
from tests.integration.wms.splitting.joined_steps import make_joined_step
from tests.integration.wms.splitting.split_tasks import (
    DyingDmsClient,
    ProcessKilled,
    accept_new_task,
)
from tests.integration.wms.wms_fixture import WmsFixture
from wms.domain.splitting.tree_merge import SPAN
from wms.usecases.reports.retry_job import retry_job
from wms.usecases.splitting.split_waiting_tasks import split_waiting_tasks
from wms.usecases.tasks.accept_downstream_counts import accept_downstream_counts
from wms.usecases.tasks.cancel_task import cancel_task


@pytest.fixture
def chain(wms: WmsFixture, dms: DmsClient) -> ChainOfSteps:
    return ChainOfSteps(wms, dms)


async def list_releases(chain: ChainOfSteps) -> list[tuple[str, str, int, list[int]]]:
    """Return upstream and downstream step, number of tasks and file numbers of each release."""
    upstream_steps = {task.main_output.dat_out_uid: name for name, task in chain.steps.items()}
    names = {task.uid: name for name, task in chain.steps.items()}
    return [
        (
            upstream_steps[release.dataset_uid],
            names[release.task_uid],
            release.downstream_count,
            list(release.seqs),
        )
        for release in await list_release_messages(chain.wms)
    ]


async def test_finished_job_releases_its_inputs(chain: ChainOfSteps, tmp_path: Path) -> None:
    await chain.create_tasks(tmp_path, files=4)
    await send_downstream_counts(chain, "b", a=1)
    await chain.send("a", "b")
    pilot = await chain.wms.add_pilot()
    jobs = await chain.wms.lease(pilot, 4)
    await chain.wms.finish(pilot, jobs[2], jobs[0], jobs[3])
    assert await list_releases(chain) == [], "the input of the chain was released"
    await chain.wms.finish(pilot, *(await chain.wms.lease(pilot, 2)))
    assert await list_releases(chain) == [("a", "b", 1, [0, 2])], (
        "the release of both files is not one message"
    )
    await chain.wms.finish(pilot, jobs[1])
    await chain.run_all(pilot)
    assert sorted(seqs for *_, seqs in await list_releases(chain)) == [[0, 2], [1], [3]]


async def test_inputs_read_before_the_number_of_downstream_tasks_is_known_are_released_later(
    chain: ChainOfSteps, tmp_path: Path
) -> None:
    """The message about the number of downstream tasks may come after the first jobs have ended."""
    await (await chain.create_tasks(tmp_path, files=3)).send("a", "b")
    pilot = await chain.wms.add_pilot()
    jobs = await chain.wms.lease(pilot, 3)
    await chain.wms.finish(pilot, *jobs[:2])
    await chain.run_all(pilot)
    assert await list_releases(chain) == []
    for _ in range(2):
        await send_downstream_counts(chain, "b", a=1)
    assert await list_releases(chain) == [("a", "b", 1, [0, 1])], (
        "the files were not released exactly once"
    )
    await chain.wms.finish(pilot, jobs[2])
    await chain.run_all(pilot)
    assert (await list_releases(chain))[1:] == [("a", "b", 1, [2])]


async def test_files_are_not_released_while_the_number_of_downstream_tasks_is_unknown(
    chain: ChainOfSteps, tmp_path: Path
) -> None:
    await (await chain.create_tasks(tmp_path, files=2)).send("a", "b", "c")
    await send_downstream_counts(chain, "c", b=1)
    await chain.run_all(await chain.wms.add_pilot())
    assert {release[:2] for release in await list_releases(chain)} == {("b", "c")}


async def test_each_downstream_task_releases_its_inputs(
    chain: ChainOfSteps, tmp_path: Path
) -> None:
    await chain.create_tasks(tmp_path, files=1)
    read = chain.steps["b"].main_input
    chain.steps["c"] = chain.steps["c"].model_copy(update={"inputs": [read]})
    for step in "bc":
        await send_downstream_counts(chain, step, a=2)
    await chain.send("a", "b", "c")
    await chain.run_all(await chain.wms.add_pilot())
    assert sorted(await list_releases(chain)) == [("a", "b", 2, [0]), ("a", "c", 2, [0])]


async def test_joined_inputs_are_released_together(chain: ChainOfSteps, tmp_path: Path) -> None:
    """The files have the same number, whichever input is the main input."""
    await chain.create_tasks(tmp_path, files=2)
    joined = await make_joined_step(chain, first="original")
    counts = {
        joined_input.dat_in_uid: number for number, joined_input in enumerate(joined.inputs, 1)
    }
    async with chain.wms.database.transaction() as transaction:
        await accept_downstream_counts(
            transaction, DownstreamCounts(task_uid=joined.uid, counts=counts)
        )
    await chain.send("a", "b")
    await chain.run_all(await chain.wms.add_pilot())
    sent_releases = await list_release_messages(chain.wms)
    assert sorted((one.downstream_count, one.seqs) for one in sent_releases) == [
        (1, [0]),
        (1, [1]),
        (2, [0]),
        (2, [1]),
    ]
    assert all(counts[one.dataset_uid] == one.downstream_count for one in sent_releases)


async def test_invariant_4_inputs_of_jobs_that_can_be_retried_are_kept(
    chain: ChainOfSteps, tmp_path: Path
) -> None:
    await chain.create_tasks(
        tmp_path, files=3, retry=2, boundary=Boundary(minimum=0.1, sufficient=1.0)
    )
    await send_downstream_counts(chain, "b", a=1)
    await chain.send("a", "b")
    pilot = await chain.wms.add_pilot()
    await chain.wms.finish(pilot, *(await chain.wms.lease(pilot, 3)))
    good, bad, lost_job = await chain.wms.lease(pilot, 3)
    await chain.wms.fail(pilot, bad)
    await chain.wms.backdate_leases(lost_job)
    await chain.wms.expire_leases()
    assert await list_releases(chain) == [], "inputs of jobs that are tried again were released"
    await chain.wms.finish(pilot, good)
    for job in await chain.wms.lease(pilot, 2):
        await chain.wms.fail(pilot, job)
    [job] = await chain.wms.lease(pilot, 2)
    await chain.wms.fail(pilot, job)
    assert await chain.job_seqs("b", JobState.FAILED) == [1, 2]
    assert await list_releases(chain) == [("a", "b", 1, [0])]
    await retry_job(chain.wms.context, bad.id)
    await chain.wms.finish(pilot, *(await chain.wms.lease(pilot)))
    assert (await list_releases(chain))[1:] == [("a", "b", 1, [1])]


async def test_held_job_keeps_its_inputs(chain: ChainOfSteps, tmp_path: Path) -> None:
    await chain.create_tasks(tmp_path, files=1)
    await send_downstream_counts(chain, "b", a=1)
    await chain.send("a", "b")
    pilot = await chain.wms.add_pilot()
    await chain.wms.finish(pilot, *(await chain.wms.lease(pilot)))
    for _ in range(chain.wms.context.rules.max_node_losses):
        [job] = await chain.wms.lease(pilot)
        await chain.wms.fail(pilot, job, error=ErrorClass.PILOT_LOST)
    assert await chain.job_seqs("b", JobState.QUARANTINED) == [0]
    assert await list_releases(chain) == []


async def test_invariant_3_stale_report_releases_nothing(
    chain: ChainOfSteps, tmp_path: Path
) -> None:
    await chain.create_tasks(tmp_path, files=1)
    await send_downstream_counts(chain, "b", a=1)
    await chain.send("a", "b")
    dead, alive = await chain.wms.add_pilot(name="dead"), await chain.wms.add_pilot(name="alive")
    await chain.wms.finish(alive, *(await chain.wms.lease(alive)))
    [job] = await chain.wms.lease(dead)
    await chain.wms.backdate_leases(job)
    await chain.wms.expire_leases()
    await chain.wms.finish(dead, job)
    assert await list_releases(chain) == []
    [again] = await chain.wms.lease(alive)
    for _ in range(2):
        await chain.wms.finish(alive, again)
    await chain.wms.finish(dead, job)
    assert await list_releases(chain) == [("a", "b", 1, [0])]


async def test_job_over_several_files_releases_all_of_them(
    chain: ChainOfSteps, tmp_path: Path
) -> None:
    await chain.create_tasks(tmp_path, files=7)
    make_gathering_step(chain, "b", "groups")
    await send_downstream_counts(chain, "b", a=1)
    await chain.send("a", "b")
    pilot = await chain.wms.add_pilot()
    await chain.run_all(pilot)
    await chain.split()
    await chain.run_all(pilot)
    assert [seqs for *_, seqs in await list_releases(chain)] == [[0, 1, 2], [3, 4, 5], [6]]


async def test_tree_releases_its_parts_as_they_are_joined(
    chain: ChainOfSteps, tmp_path: Path
) -> None:
    """Only one job of the tree reads a part."""
    await chain.create_tasks(tmp_path, files=7)
    make_gathering_step(chain, "b", "tree")
    await send_downstream_counts(chain, "b", a=1)
    await chain.send("a", "b")
    pilot = await chain.wms.add_pilot()
    await chain.run_all(pilot)
    await chain.split()
    await chain.run_all(pilot)
    assert await chain.state("b") is TaskState.FINISHED
    sent_releases = await list_release_messages(chain.wms)
    tree = chain.steps["b"]
    of_parts = [list(one.seqs) for one in sent_releases if one.dataset_uid == tree.parts_uid]
    assert of_parts == [[0, 1, 2]]
    assert {one.downstream_count for one in sent_releases} == {1}
    files = [one for one in sent_releases if one.dataset_uid == tree.main_input.dat_in_uid]
    assert [list(one.seqs) for one in files] == [[0, 1, 2], [3, 4, 5], [6]]
    parts = (await chain.wms.sent_messages()).files[UUID(str(tree.parts_uid))]
    assert sorted(seq for seq, _ in parts) == [0, 1, 2]
    assert max(seq for seq, _ in parts) < SPAN


async def test_nothing_is_released_while_the_whole_data_set_is_split(
    chain: ChainOfSteps, dms: DmsClient, tmp_path: Path
) -> None:
    """After a crash, another splitter reads the data set from its beginning."""
    await chain.create_tasks(tmp_path, files=7)
    await send_downstream_counts(chain, "b", a=1)
    await chain.send("a")
    pilot = await chain.wms.add_pilot()
    await chain.run_all(pilot)
    await deliver_files(chain.wms, dms)
    await accept_new_task(chain.wms, chain.steps["b"])
    with pytest.raises(ProcessKilled):
        await split_waiting_tasks(chain.wms.context, DyingDmsClient(dms, pages=2), page=3)
    await chain.run_all(pilot)
    assert await list_releases(chain) == []
    await chain.wms.execute(
        "UPDATE tasks SET split_until = now(), split_checked_at = NULL WHERE uid = $1",
        chain.steps["b"].uid,
    )
    await chain.split()
    assert await chain.state("b") is TaskState.ACTIVE
    await chain.run_all(pilot)
    assert [seqs for *_, seqs in await list_releases(chain)] == [[6]]


async def test_number_of_downstream_tasks_is_deleted_with_its_task(
    chain: ChainOfSteps, tmp_path: Path
) -> None:
    await chain.create_tasks(tmp_path, files=1)
    for _ in range(2):
        await send_downstream_counts(chain, "b", a=1)
    await chain.send("a", "b")
    await cancel_task(chain.wms.context, chain.steps["b"].uid)
    await send_downstream_counts(chain, "b", a=1)
    async with chain.wms.database.connection() as connection:
        assert await connection.fetchval("SELECT count(*) FROM downstream_counts") == 0


async def run_chain(chain: ChainOfSteps, folder: Path, *, files: int, bad: set[int]) -> None:
    """Run the steps ``a``, ``b`` and ``c``. The jobs ``bad`` of ``b`` fail."""
    await chain.create_tasks(
        folder, files=files, retry=1, boundary=Boundary(minimum=0.1, sufficient=1.0)
    )
    await send_downstream_counts(chain, "b", a=1)
    await send_downstream_counts(chain, "c", b=1)
    await chain.send("a", "b", "c")
    pilot = await chain.wms.add_pilot()
    while jobs := await chain.wms.lease(pilot):
        [job] = jobs
        fails = chain.find_step(job) == "b" and job.seq in bad
        await (chain.wms.fail(pilot, job) if fails else chain.wms.finish(pilot, job))
    for _ in range(3):
        await chain.split()


async def add_rerun(chain: ChainOfSteps, step: str, *, read: UUID) -> Task:
    before = chain.steps[step]
    out = await register_output(chain.dms)
    output = before.main_output.model_copy(update={"dat_out_uid": out})
    reused = ReusedTask(task=before.uid, outputs={output.port: before.main_output.dat_out_uid})
    again = before.model_copy(
        update={
            "uid": uuid4(),
            "chain_uid": chain.uid,
            "inputs": [before.main_input.model_copy(update={"dat_in_uid": read})],
            "outputs": [output],
            "taken_over": reused,
            "log_out_uid": uuid4(),
        }
    )
    return await accept_new_task(chain.wms, again)


async def test_rerun_of_failed_jobs_does_without_released_files(
    chain: ChainOfSteps, dms: DmsClient, catalogue: Database, tmp_path: Path
) -> None:
    """Two steps reuse finished jobs, and most of the files that they read are released."""
    await run_chain(chain, tmp_path, files=6, bad={1, 4})
    await deliver_files(chain.wms, dms)
    await deliver_releases(chain.wms, catalogue)
    for step, remaining_seqs in (("a", [1, 4]), ("b", [])):
        files_page = await dms.list_files(chain.steps[step].main_output.dat_out_uid)
        assert [file.seq for file in files_page.files] == remaining_seqs
    chain.uid = uuid4()
    second = await add_rerun(chain, "b", read=chain.steps["a"].main_output.dat_out_uid)
    third = await add_rerun(chain, "c", read=second.main_output.dat_out_uid)
    await chain.split()
    pilot = await chain.wms.add_pilot()
    jobs = await chain.wms.lease(pilot, 100)
    assert [(job.task_uid, job.seq) for job in jobs] == [(second.uid, 1), (second.uid, 4)]
    await chain.wms.finish(pilot, *jobs)
    await deliver_files(chain.wms, dms)
    await chain.split()
    jobs = await chain.wms.lease(pilot, 100)
    assert [(job.task_uid, job.seq) for job in jobs] == [(third.uid, 1), (third.uid, 4)]
    await chain.wms.finish(pilot, *jobs)
    await deliver_files(chain.wms, dms)
    for task in (second, third):
        assert (await chain.wms.status(task)).state is TaskState.FINISHED
        assert await chain.wms.states(task) == {JobState.FINISHED: 6}
    output = [await dms.list_files(task.main_output.dat_out_uid) for task in (second, third)]
    assert [[file.seq for file in page.files] for page in output] == [[1, 4], list(range(6))]
    between = await dms.get_dataset(second.main_output.dat_out_uid)
    assert (between.count_files, between.released, between.state.readable) == (6, 4, True)


async def test_invariant_4_step_that_needs_released_files_fails(
    chain: ChainOfSteps, dms: DmsClient, catalogue: Database, tmp_path: Path
) -> None:
    """The step was planned before the files were released."""
    await run_chain(chain, tmp_path, files=4, bad={1})
    await deliver_files(chain.wms, dms)
    await deliver_releases(chain.wms, catalogue)
    chain.uid = uuid4()
    read = chain.steps["a"].main_output.dat_out_uid
    incomplete_task = await add_rerun(chain, "b", read=read)
    plain = chain.steps["b"].model_copy(update={"uid": uuid4(), "chain_uid": chain.uid})
    await chain.wms.execute(
        "UPDATE jobs SET inputs = jsonb_set(inputs, '{0,size}', '7')"
        " WHERE task_uid = $1 AND seq = 2",
        chain.steps["b"].uid,
    )
    await accept_new_task(chain.wms, plain)
    await chain.split()
    for task, reason in (
        (incomplete_task, "its job 2 has to run"),
        (plain, "3 files of its input"),
    ):
        status = await chain.wms.status(task)
        assert status.state is TaskState.FAILED
        assert reason in status.reason
        assert "rerun the step that wrote" in status.reason
