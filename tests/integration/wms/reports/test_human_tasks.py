"""Jobs of human tasks go to no pilot and finish once with the file of the answer."""

import asyncio
from collections import Counter
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from sluice.contracts.access.quotas import HolderKind, Quantity, QuotaHolder
from sluice.contracts.common.problems import NotFound, Unprocessable
from sluice.contracts.common.states import (
    ErrorClass,
    InputMode,
    JobState,
    ReportAnswer,
    TaskState,
)
from sluice.contracts.human_tasks.annotation import AnsweredJob
from sluice.contracts.jobs.tasks import Cancel, ReusedTask, TaskInput
from sluice.contracts.templates.plan import Boundary
from tests.integration.wms.catalogue import deliver_files
from tests.integration.wms.chain_of_steps import ChainOfSteps
from tests.integration.wms.human_tasks import ASK, HumanTasks, make_answered_job
from tests.integration.wms.query_plans import explain_query, list_job_scans
from tests.integration.wms.splitting.split_tasks import make_dataset
from tests.integration.wms.wms_fixture import NOW, WmsFixture, make_draft
from tests.waiting import eventually
from wms.db.dataflow.dataflow_links import add_jobs
from wms.db.jobs.human_tasks import SELECT_UNANSWERED_JOBS, list_jobs_to_answer
from wms.db.jobs.job_pages import UNANSWERED, JobQuery
from wms.db.tasks.quotas import WAITING
from wms.db.tasks.tasks import lock_tasks
from wms.usecases.leasing.explain_job import explain_job
from wms.usecases.leasing.explain_task import explain_task
from wms.usecases.reports.accept_answers import accept_answers
from wms.usecases.reports.check_outputs import OutputCheck
from wms.usecases.reports.list_human_jobs import list_human_jobs
from wms.usecases.reports.list_human_tasks import list_human_tasks
from wms.usecases.reports.retry_task import retry_task
from wms.usecases.tasks.cancel_task import cancel_task
from wms.usecases.tasks.get_job import get_job
from wms.usecases.tasks.list_jobs import list_jobs


async def test_jobs_of_a_human_task_go_to_no_pilot(human_tasks: HumanTasks) -> None:
    gold = await make_dataset(human_tasks.dms, human_tasks.folder, files=1)
    gold_input = TaskInput(port="known", dat_in_uid=gold, mode=InputMode.ONE)
    task = await human_tasks.create_task(
        files=5, page=2, side_inputs=[gold_input], owner="anna", group="ocr"
    )
    assert await human_tasks.count_states(task) == {JobState.ASKED: 5}
    pilot = await human_tasks.wms.add_pilot()
    assert await human_tasks.wms.lease(pilot, 10) == []
    [listed_task] = (await list_human_tasks(human_tasks.wms.context)).tasks
    assert (listed_task.uid, listed_task.step) == (task.uid, task.step)
    assert (listed_task.ask, listed_task.asked) == (ASK, 5)
    assert (listed_task.owner, listed_task.group, listed_task.output) == (
        "anna",
        "ocr",
        task.main_output,
    )
    assert [(file.port, file.name) for file in listed_task.files] == [("known", "f00000")]
    jobs = await human_tasks.list_jobs(task)
    assert [(job.seq, job.input.name) for job in jobs] == [(n, f"f{n:05}") for n in range(5)]
    explained = await explain_task(human_tasks.wms.context, task.uid)
    assert explained.text == "Waits for answers of people: 5 (0 of 5 jobs finished)."
    assert "answers of people" in (await explain_job(human_tasks.wms.context, jobs[0].id)).text


async def test_asked_jobs_are_listed_page_by_page(human_tasks: HumanTasks) -> None:
    task = await human_tasks.create_task(files=5)
    first = await list_human_jobs(human_tasks.wms.context, task.uid, after=0, limit=3)
    rest = await list_human_jobs(
        human_tasks.wms.context, task.uid, after=first.jobs[-1].id, limit=3
    )
    assert [job.seq for job in (*first.jobs, *rest.jobs)] == [0, 1, 2, 3, 4]
    page = await list_jobs(human_tasks.wms.context, task.uid, JobQuery(JobState.ASKED, limit=3))
    more = await list_jobs(
        human_tasks.wms.context, task.uid, JobQuery(JobState.ASKED, after=page.after, limit=3)
    )
    assert [job.seq for job in (*page.jobs, *more.jobs)] == [0, 1, 2, 3, 4]
    assert more.after is None
    with pytest.raises(NotFound):
        await list_human_jobs(human_tasks.wms.context, uuid4(), after=0, limit=3)


@pytest.mark.parametrize("analysed", [True, False])
async def test_page_of_asked_jobs_is_found_by_its_index(
    human_tasks: HumanTasks, *, analysed: bool
) -> None:
    task = await human_tasks.create_task(files=3000)
    if analysed:
        await human_tasks.wms.execute("ANALYZE")
    for statement in (SELECT_UNANSWERED_JOBS, UNANSWERED):
        query_plan = await explain_query(human_tasks.wms, statement, task.uid, 100, 10)
        assert list_job_scans(query_plan) == {"jobs_asked"}


async def test_limit_of_waiting_jobs_does_not_apply_to_asked_jobs(human_tasks: HumanTasks) -> None:
    group = QuotaHolder(HolderKind.GROUP, "ocr")
    async with human_tasks.wms.database.transaction() as transaction:
        await WAITING.set(transaction.connection, group, {Quantity.WAITING: 3})
    full = await human_tasks.create_task(files=10, group="ocr", ask=None, page=4)
    assert (await human_tasks.wms.status(full)).ready == 3
    task = await human_tasks.create_task(files=10, group="ocr", page=4)
    assert await human_tasks.count_states(task) == {JobState.ASKED: 10}
    async with human_tasks.wms.database.connection() as connection:
        [holding] = await WAITING.holdings(connection, group.kind, group.name)
    assert holding.has[Quantity.WAITING].used == 3


async def test_human_task_job_finishes_once_with_its_answer(human_tasks: HumanTasks) -> None:
    task = await human_tasks.create_task(files=3)
    first, second, third = await human_tasks.list_jobs(task)
    answer = make_answered_job(task, second)
    assert await human_tasks.answer(task, answer) == [ReportAnswer.ACCEPTED]
    assert await human_tasks.count_states(task) == {JobState.ASKED: 2, JobState.FINISHED: 1}
    assert await human_tasks.answer(task, answer, make_answered_job(task, first)) == [
        ReportAnswer.ALREADY,
        ReportAnswer.ACCEPTED,
    ]
    assert [job.id for job in await human_tasks.list_jobs(task)] == [third.id]
    assert (
        await human_tasks.answer(
            task, make_answered_job(task, third), make_answered_job(task, third)
        )
        == [ReportAnswer.ACCEPTED] * 2
    )
    status = await human_tasks.wms.status(task)
    assert (status.state, status.reason) == (TaskState.FINISHED, "3 of 3 jobs finished")
    assert await human_tasks.answer(task, answer) == [ReportAnswer.ALREADY]
    sent = await human_tasks.wms.sent_messages()
    dataset = task.main_output.dat_out_uid
    assert sorted(sent.files[dataset]) == [(n, f"0000000{n}.1-answer.json") for n in range(3)]
    assert sent.close_at[dataset] == [3]
    assert [event.uid for event in sent.ended] == [task.uid]
    assert (await list_human_tasks(human_tasks.wms.context)).tasks == []


async def test_answer_is_recorded_as_an_attempt_of_people_without_run_times(
    human_tasks: HumanTasks,
) -> None:
    task = await human_tasks.create_task(files=2)
    [job, _] = await human_tasks.list_jobs(task)
    await human_tasks.answer(task, make_answered_job(task, job))
    details = await get_job(human_tasks.wms.context, job.id)
    [attempt] = details.attempts
    assert (details.attempt, attempt.who, attempt.leased_at) == (1, "people", NOW)
    assert human_tasks.wms.context.ends.take() == []
    async with human_tasks.wms.database.connection() as connection:
        times = await connection.fetchrow(
            "SELECT timed, worked, waited FROM tasks WHERE uid = $1", task.uid
        )
    assert times is not None
    assert tuple(times) == (0, 0.0, 0.0)


async def test_answer_to_an_ended_task_is_stale(human_tasks: HumanTasks) -> None:
    task = await human_tasks.create_task(files=2)
    job, _ = await human_tasks.list_jobs(task)
    await cancel_task(human_tasks.wms.context, task.uid, Cancel(reason="enough"))
    assert await human_tasks.count_states(task) == {JobState.CANCELED: 2}
    assert await human_tasks.answer(task, make_answered_job(task, job)) == [ReportAnswer.STALE]
    assert await human_tasks.count_states(task) == {JobState.CANCELED: 2}
    assert (await human_tasks.wms.status(task)).killed == 0


async def test_answer_to_a_job_of_another_task_is_stale(human_tasks: HumanTasks) -> None:
    task, other = await human_tasks.create_task(files=1), await human_tasks.create_task(files=1)
    [job] = await human_tasks.list_jobs(other)
    assert await human_tasks.answer(task, make_answered_job(task, job)) == [ReportAnswer.STALE]
    unknown = job.model_copy(update={"id": 2**62})
    later_job = job.model_copy(update={"id": 2**80})
    assert (
        await human_tasks.answer(
            task, make_answered_job(task, unknown), make_answered_job(task, later_job)
        )
        == [ReportAnswer.STALE] * 2
    )
    assert await human_tasks.count_states(other) == {JobState.ASKED: 1}
    with pytest.raises(NotFound):
        await accept_answers(human_tasks.wms.context, uuid4(), [make_answered_job(task, job)])


async def test_answer_to_a_job_of_a_pilot_is_stale(human_tasks: HumanTasks) -> None:
    task = await human_tasks.create_task(files=1, ask=None)
    pilot = await human_tasks.wms.add_pilot()
    [job] = await human_tasks.wms.lease(pilot)
    async with human_tasks.wms.database.connection() as connection:
        assert await list_jobs_to_answer(connection, task.uid, after=0, limit=9) == []
    [stored] = (await list_jobs(human_tasks.wms.context, task.uid, JobQuery())).jobs
    answer = AnsweredJob(
        id=stored.id,
        output=human_tasks.wms.make_report(job).outputs[0],
        asked_at=NOW,
        answered_at=NOW,
    )
    assert await human_tasks.answer(task, answer) == [ReportAnswer.STALE]
    assert await human_tasks.wms.finish(pilot, job) == [ReportAnswer.ACCEPTED]


@pytest.mark.parametrize("place", ["file:///elsewhere/a.json", "{folder}/../b/a.json", "{folder}x"])
async def test_answer_file_outside_the_output_folder_is_refused_without_changes(
    human_tasks: HumanTasks, place: str
) -> None:
    task = await human_tasks.create_task(files=2)
    first, second = await human_tasks.list_jobs(task)
    folder = task.main_output.dat_out_url
    good = make_answered_job(task, first)
    output = good.output.model_copy(update={"url": place.format(folder=folder)})
    misplaced_answer = good.model_copy(update={"id": second.id, "output": output})
    with pytest.raises(Unprocessable) as refused:
        await human_tasks.answer(task, good, misplaced_answer)
    detail = refused.value.detail
    assert f"outside of {folder}" in detail or "not a plain path" in detail
    assert refused.value.fields["jobs"] == str(second.id)
    assert await human_tasks.count_states(task) == {JobState.ASKED: 2}
    assert (await get_job(human_tasks.wms.context, first.id)).attempt == 0


async def test_answer_file_must_exist_when_the_answer_comes(human_tasks: HumanTasks) -> None:
    context = human_tasks.wms.context
    check = OutputCheck(human_tasks.dms, content=True)
    human_tasks.wms = WmsFixture(replace(context, output_check=check), human_tasks.wms.tasks)
    task = await human_tasks.create_task(files=1)
    [job] = await human_tasks.list_jobs(task)
    answer = make_answered_job(task, job, data=b"{}")
    with pytest.raises(Unprocessable, match="there is no such file"):
        await human_tasks.answer(task, answer)
    assert await human_tasks.count_states(task) == {JobState.ASKED: 1}
    written = human_tasks.write(answer, b"{}")
    assert await human_tasks.answer(task, answer) == [ReportAnswer.ACCEPTED]
    written.unlink()
    assert await human_tasks.answer(task, answer) == [ReportAnswer.ALREADY]


async def test_sufficient_answers_end_a_task_and_cancel_jobs(human_tasks: HumanTasks) -> None:
    task = await human_tasks.create_task(files=5, boundary=Boundary(minimum=0.4, sufficient=0.6))
    jobs = await human_tasks.list_jobs(task)
    await human_tasks.answer(task, *(make_answered_job(task, job) for job in jobs[:2]))
    assert (await human_tasks.wms.status(task)).state is TaskState.ACTIVE
    await human_tasks.answer(task, make_answered_job(task, jobs[4]))
    assert (await human_tasks.wms.status(task)).state is TaskState.FINISHED
    assert await human_tasks.count_states(task) == {JobState.FINISHED: 3, JobState.CANCELED: 2}


async def test_concurrent_answers_are_accepted_once(
    human_tasks: HumanTasks, other_wms: WmsFixture
) -> None:
    task = await human_tasks.create_task(files=6)
    jobs = await human_tasks.list_jobs(task)
    all_answers = [make_answered_job(task, job) for job in jobs]
    answers = await asyncio.gather(
        *(
            accept_answers(wms.context, task.uid, some)
            for wms in (human_tasks.wms, other_wms)
            for some in (all_answers[:4], all_answers[2:])
        )
    )
    ends = Counter((one.id, one.answer) for answer in answers for one in answer)
    assert {job for job, end in ends if end is ReportAnswer.ACCEPTED} == {job.id for job in jobs}
    assert set(ends.values()) <= {1, 2, 3}
    assert all(n == 1 for (_, end), n in ends.items() if end is ReportAnswer.ACCEPTED)
    assert await human_tasks.count_states(task) == {JobState.FINISHED: 6}
    sent = await human_tasks.wms.sent_messages()
    assert len(sent.files[task.main_output.dat_out_uid]) == 6


async def test_human_task_takes_files_by_dataflow_and_its_answers_flow_on(
    human_tasks: HumanTasks, tmp_path: Path
) -> None:
    chain = await ChainOfSteps(human_tasks.wms, human_tasks.dms).create_tasks(tmp_path, files=4)
    chain.steps["b"] = chain.steps["b"].model_copy(
        update={"needs": chain.steps["b"].needs.model_copy(update={"ask": ASK})}
    )
    await chain.send("a", "b", "c")
    pilot = await human_tasks.wms.add_pilot()
    await human_tasks.wms.finish(pilot, *(await human_tasks.wms.lease(pilot, 2)))
    task = chain.steps["b"]
    assert await human_tasks.count_states(task) == {JobState.ASKED: 2}
    assert await human_tasks.count_states(chain.steps["c"]) == {}
    [job, _] = await human_tasks.list_jobs(task)
    assert job.input.name == "events"
    assert await human_tasks.answer(task, make_answered_job(task, job)) == [ReportAnswer.ACCEPTED]
    assert await chain.ready_seqs("c") == [job.seq]
    assert {step for step, _ in await chain.run_all(pilot)} == {"a", "c"}
    await human_tasks.answer(
        task, *(make_answered_job(task, one) for one in await human_tasks.list_jobs(task))
    )
    await chain.run_all(pilot)
    await chain.split()
    await chain.split()
    assert [await chain.state(step) for step in "abc"] == [TaskState.FINISHED] * 3
    assert await human_tasks.count_states(task) == {JobState.FINISHED: 4}
    await deliver_files(human_tasks.wms, human_tasks.dms)
    files = (await human_tasks.dms.list_files(task.main_output.dat_out_uid)).files
    assert [file.seq for file in files] == [0, 1, 2, 3]


async def test_rerun_takes_over_answers(human_tasks: HumanTasks) -> None:
    uid = await make_dataset(human_tasks.dms, human_tasks.folder, files=4)
    before = await human_tasks.create_task(files=4, dat_in_uid=uid)
    jobs = await human_tasks.list_jobs(before)
    await human_tasks.answer(before, *(make_answered_job(before, job) for job in jobs[1:3]))
    await cancel_task(human_tasks.wms.context, before.uid, Cancel(reason="enough"))
    await deliver_files(human_tasks.wms, human_tasks.dms)
    reused = ReusedTask(
        task=before.uid, outputs={before.main_output.port: before.main_output.dat_out_uid}
    )
    task = await human_tasks.create_task(files=4, page=3, dat_in_uid=uid, taken_over=reused)
    assert await human_tasks.count_states(task) == {JobState.ASKED: 2, JobState.FINISHED: 2}
    remaining_jobs = await human_tasks.list_jobs(task)
    assert [job.seq for job in remaining_jobs] == [0, 3]
    await human_tasks.answer(task, *(make_answered_job(task, job) for job in remaining_jobs))
    assert (await human_tasks.wms.status(task)).state is TaskState.FINISHED
    await deliver_files(human_tasks.wms, human_tasks.dms)
    files = (await human_tasks.dms.list_files(task.main_output.dat_out_uid)).files
    assert [file.seq for file in files] == [0, 1, 2, 3]


async def test_job_that_pilots_have_tried_is_asked_again(human_tasks: HumanTasks) -> None:
    """The WMS of an earlier release made the jobs of human tasks ready."""
    task = await human_tasks.create_task(files=3)
    await human_tasks.wms.execute("ALTER TABLE jobs DISABLE TRIGGER legal_transition")
    await human_tasks.wms.execute(
        "UPDATE jobs SET state = $2, attempt = 1, not_before = now(), error_class = $3,"
        " ended_at = now() WHERE task_uid = $1 AND seq = 1",
        task.uid,
        JobState.FAILED,
        ErrorClass.INTERNAL,
    )
    await human_tasks.wms.execute(
        "UPDATE tasks SET asked = 2, failed = 1, errors = $2 WHERE uid = $1",
        task.uid,
        {ErrorClass.INTERNAL.value: 1},
    )
    await human_tasks.wms.execute("ALTER TABLE jobs ENABLE TRIGGER legal_transition")
    status = await retry_task(human_tasks.wms.context, task.uid)
    assert (status.asked, status.failed, status.errors) == (3, 0, {})
    assert await human_tasks.count_states(task) == {JobState.ASKED: 3}
    jobs = await human_tasks.list_jobs(task)
    assert (
        await human_tasks.answer(task, *(make_answered_job(task, job) for job in jobs))
        == [ReportAnswer.ACCEPTED] * 3
    )
    assert (await get_job(human_tasks.wms.context, jobs[1].id)).attempt == 2


async def test_jobs_become_visible_in_the_order_of_their_ids(
    human_tasks: HumanTasks, other_wms: WmsFixture
) -> None:
    """A client that lists jobs page by page misses no job."""
    task = await human_tasks.create_task(files=1)

    async def add(wms: WmsFixture, seq: int, *, release: asyncio.Event) -> None:
        async with wms.database.transaction() as transaction:
            await lock_tasks(transaction.connection, [task.uid])
            await add_jobs(transaction.connection, task.uid, [make_draft(seq, [seq])])
            await release.wait()

    free, release_event = asyncio.Event(), asyncio.Event()
    free.set()
    add_first = asyncio.create_task(add(human_tasks.wms, 8, release=release_event))

    async def is_first_blocked() -> bool:
        async with other_wms.database.connection() as connection:
            return bool(
                await connection.fetchval(
                    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                    " AND state = 'idle in transaction'"
                )
            )

    await eventually(is_first_blocked)
    add_second = asyncio.create_task(add(other_wms, 7, release=free))
    await eventually(human_tasks.wms.is_waiting_for_lock)
    assert [job.seq for job in await human_tasks.list_jobs(task)] == [0]
    release_event.set()
    await asyncio.gather(add_first, add_second)
    jobs = await human_tasks.list_jobs(task)
    assert [job.seq for job in jobs] == [0, 8, 7]
    assert [job.id for job in jobs] == sorted(job.id for job in jobs)
    assert await human_tasks.count_states(task) == {JobState.ASKED: 3}
