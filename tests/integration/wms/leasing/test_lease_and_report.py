"""Jobs are leased and reported until the task ends, and invalid reports change nothing."""

import asyncio
from uuid import uuid4

import orjson
import pytest

from pilot.domain.reports import build_lost_pilot_report
from sluice.contracts.common.naming import output_name
from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import (
    AttemptOutcome,
    DeviceType,
    ErrorClass,
    JobState,
    ReportAnswer,
    TaskMode,
    TaskState,
)
from sluice.contracts.jobs.needs import Resources
from sluice.contracts.jobs.tasks import TaskOutput
from sluice.contracts.pilots.output_files import LogFile, OutputFile
from sluice.contracts.templates.plan import Boundary
from tests.integration.wms.wms_fixture import CHECKSUM, NOW, WmsFixture, make_task
from wms.db.tasks.status import get_job_with_attempts


async def test_task_runs_from_lease_to_end(wms: WmsFixture) -> None:
    """Invariants 5 and 8: one end, counts that add up, and outputs in the order of inputs."""
    task = await wms.add_task(make_task(), jobs=3)
    pilot = await wms.add_pilot()
    leased = await wms.request_lease(pilot, 10)
    assert [job.seq for job in leased.jobs] == [0, 1, 2]
    assert [orjson.loads(job.inputs)[0]["name"] for job in leased.jobs] == [
        f"frame-{n:04}.raw" for n in range(3)
    ]
    assert [leased_task.task.uid for leased_task in leased.tasks] == [task.uid]
    assert (await wms.status(task)).leased == 3
    assert await wms.finish(pilot, *leased.jobs) == [ReportAnswer.ACCEPTED] * 3
    status = await wms.status(task)
    assert (status.state, status.finished, status.total) == (TaskState.FINISHED, 3, 3)
    sent = await wms.sent_messages()
    assert sent.files[task.main_output.dat_out_uid] == [
        (n, output_name(n, 1, "events")) for n in range(3)
    ]
    assert sent.close_at == {task.main_output.dat_out_uid: [3], task.log_out_uid: [3]}
    assert [(event.uid, event.state) for event in sent.ended] == [(task.uid, TaskState.FINISHED)]


async def test_report_sends_one_message_per_data_set(wms: WmsFixture) -> None:
    task = await wms.add_task(make_task(), jobs=10)
    pilot = await wms.add_pilot()
    jobs = await wms.lease(pilot, 10)
    await wms.finish(pilot, *jobs[:5])
    assert sorted(len(message.files) for message in (await wms.sent_messages()).messages) == [5, 5]
    file = next(
        m
        for m in (await wms.sent_messages()).messages
        if m.dataset_uid == task.main_output.dat_out_uid
    ).files[0]
    assert file.meta == {"frame": 0}
    assert file.origin == {
        "task": str(task.uid),
        "job": jobs[0].id,
        "attempt": 1,
        "inputs": ["frame-0000.raw"],
    }


async def test_merge_output_has_the_range_of_its_inputs(wms: WmsFixture) -> None:
    """Invariant 8: the output of a merge job names its first and its last input."""
    task = await wms.add_task(make_task(mode=TaskMode.MERGE), jobs=1)
    pilot = await wms.add_pilot()
    await wms.finish(pilot, *await wms.lease(pilot))
    file = next(
        m
        for m in (await wms.sent_messages()).messages
        if m.dataset_uid == task.main_output.dat_out_uid
    ).files[0]
    assert file.meta == {"first_seq": 0, "last_seq": 0, "files": 1}


async def test_repeated_report_changes_nothing(wms: WmsFixture) -> None:
    """Invariant 3: a repeated report is answered as such."""
    task = await wms.add_task(make_task(), jobs=2)
    pilot = await wms.add_pilot()
    job, _ = await wms.lease(pilot, 2)
    assert await wms.finish(pilot, job) == [ReportAnswer.ACCEPTED]
    before = await wms.status(task)
    assert await wms.finish(pilot, job) == [ReportAnswer.ALREADY]
    assert await wms.report(pilot, *[wms.make_report(job)] * 2) == [ReportAnswer.ALREADY] * 2
    assert await wms.fail(pilot, job) == [ReportAnswer.STALE]
    assert await wms.status(task) == before
    assert (await wms.sent_messages()).files[task.main_output.dat_out_uid] == [
        (0, output_name(0, 1, "events"))
    ]


async def test_attempt_named_twice_in_a_report_counts_once(wms: WmsFixture) -> None:
    """Invariant 3: its outputs enter the catalogue once."""
    task = await wms.add_task(make_task(), jobs=2)
    pilot = await wms.add_pilot()
    (job,) = await wms.lease(pilot)
    assert await wms.finish(pilot, job, job) == [ReportAnswer.ACCEPTED] * 2
    assert (await wms.status(task)).finished == 1
    assert (await wms.sent_messages()).files[task.main_output.dat_out_uid] == [
        (0, output_name(0, 1, "events"))
    ]


async def test_reports_on_attempts_of_other_pilots_and_unknown_attempts_are_stale(
    wms: WmsFixture,
) -> None:
    """Invariant 3: only the pilot that has the attempt can end it."""
    task = await wms.add_task(make_task(), jobs=2)
    pilot, other = await wms.add_pilot(), await wms.add_pilot()
    (job,) = await wms.lease(pilot)
    assert await wms.finish(other, job) == [ReportAnswer.STALE]
    unknown_reports = [wms.make_report(job, attempt=2), wms.make_report(job, id=10_000)]
    assert await wms.report(pilot, *unknown_reports) == [ReportAnswer.STALE] * 2
    assert (await wms.status(task)).leased == 1
    assert (await wms.sent_messages()).messages == []
    with pytest.raises(NotFound):
        await wms.finish(uuid4(), job)
    assert (await wms.status(task)).leased == 1


async def test_late_report_of_a_lost_attempt_is_stale(wms: WmsFixture) -> None:
    """Invariant 3: only the outputs of the winner are registered."""
    task = await wms.add_task(make_task(), jobs=1)
    slow, quick = await wms.add_pilot(), await wms.add_pilot()
    (old,) = await wms.lease(slow)
    await wms.backdate_leases(old)
    assert await wms.lease(quick) == []  # the expired lease was not processed yet
    await wms.expire_leases()
    (new,) = await wms.lease(quick)
    assert (new.id, new.attempt) == (old.id, 2)
    assert await wms.finish(slow, old) == [ReportAnswer.STALE]
    assert await wms.finish(quick, new) == [ReportAnswer.ACCEPTED]
    assert await wms.finish(slow, old) == [ReportAnswer.STALE]
    sent = await wms.sent_messages()
    assert sent.files[task.main_output.dat_out_uid] == [(0, output_name(0, 2, "events"))]
    assert sent.close_at[task.main_output.dat_out_uid] == [1]


async def test_pilot_that_lost_its_report_is_told_that_the_report_was_accepted(
    wms: WmsFixture,
) -> None:
    """Invariant 4: the pilot must not delete outputs that are in the catalogue."""
    task = await wms.add_task(make_task(), jobs=2)
    pilot, other = await wms.add_pilot(), await wms.add_pilot()
    accepted_job, reassigned_job = await wms.lease(pilot, 2)
    await wms.backdate_leases(reassigned_job)
    await wms.expire_leases()
    assert await wms.finish(pilot, accepted_job) == [ReportAnswer.ACCEPTED]
    lost_reports = [
        build_lost_pilot_report(job.id, job.attempt, NOW) for job in (accepted_job, reassigned_job)
    ]
    assert await wms.report(pilot, *lost_reports) == [ReportAnswer.ALREADY, ReportAnswer.STALE]
    assert await wms.report(other, lost_reports[0]) == [ReportAnswer.STALE]
    assert (await wms.status(task)).finished == 1


async def test_report_of_an_older_attempt_by_the_same_pilot_is_stale(
    wms: WmsFixture,
) -> None:
    """Invariant 3: the number of the attempt is the fencing token, not the pilot."""
    task = await wms.add_task(make_task(), jobs=1)
    pilot = await wms.add_pilot()
    (old,) = await wms.lease(pilot)
    await wms.backdate_leases(old)
    await wms.expire_leases()
    (new,) = await wms.lease(pilot)
    assert await wms.finish(pilot, old) == [ReportAnswer.STALE]
    assert (await wms.status(task)).leased == 1
    assert await wms.finish(pilot, old, new) == [ReportAnswer.STALE, ReportAnswer.ACCEPTED]
    assert (await wms.sent_messages()).files[task.main_output.dat_out_uid] == [
        (0, output_name(0, 2, "events"))
    ]


async def test_concurrent_reports_of_one_attempt_are_accepted_once(
    wms: WmsFixture, other_wms: WmsFixture
) -> None:
    """Invariant 3: two instances get the same report several times at once."""
    task = await wms.add_task(make_task(), jobs=8)
    pilot = await wms.add_pilot()
    jobs = await wms.lease(pilot, 8)
    answers = await asyncio.gather(
        *(at.finish(pilot, *jobs) for at in (wms, other_wms) for _ in range(5))
    )
    all_answers = [answer for group in answers for answer in group]
    assert all_answers.count(ReportAnswer.ACCEPTED) == 8
    assert all_answers.count(ReportAnswer.ALREADY) == 72
    sent = await wms.sent_messages()
    assert len(sent.files[task.main_output.dat_out_uid]) == 8
    assert sent.close_at[task.main_output.dat_out_uid] == [8]
    assert len(sent.ended) == 1


async def test_output_outside_its_folder_is_refused(wms: WmsFixture) -> None:
    task = await wms.add_task(
        make_task(retry=1, boundary=Boundary(minimum=0, sufficient=1)), jobs=6
    )
    pilot = await wms.add_pilot()
    jobs = await wms.lease(pilot, 6)
    name = "events-x"
    outside = OutputFile(
        port="events", name=name, size=1, checksum=CHECKSUM, url=f"file:///etc/{name}"
    )
    folder = task.main_output.dat_out_url
    sibling = outside.model_copy(update={"url": f"{folder}-evil/{name}"})
    unknown = outside.model_copy(update={"port": "nothing", "url": f"{folder}/{name}"})
    logs = [
        LogFile(name="l", size=1, checksum=CHECKSUM, url=url)
        for url in ("file:///etc/l", f"{task.log_out_url}/./l")
    ]
    reports = [
        wms.make_report(job, outputs=[file])
        for job, file in zip(jobs, (outside, sibling, unknown), strict=False)
    ]
    reports += [wms.make_report(job, log=log) for job, log in zip(jobs[3:5], logs, strict=True)]
    reports.append(wms.make_report(jobs[5], outputs=wms.make_report(jobs[0]).outputs))
    assert await wms.report(pilot, *reports) == [ReportAnswer.ACCEPTED] * 6
    status = await wms.status(task)
    assert status.errors == {ErrorClass.INTERNAL: 6}
    sent = await wms.sent_messages()
    assert not any(message.files for message in sent.messages)
    async with wms.database.connection() as connection:
        job = await get_job_with_attempts(connection, jobs[0].id)
    assert (
        job.message == f"the pilot put output 'events' at file:///etc/{name}, outside of {folder}"
    )


async def test_missing_output_fails_the_job_and_keeps_its_log(wms: WmsFixture) -> None:
    task = await wms.add_task(
        make_task(retry=1, boundary=Boundary(minimum=0, sufficient=1)), jobs=2
    )
    pilot = await wms.add_pilot()
    job, _ = await wms.lease(pilot, 2)
    await wms.report(pilot, wms.make_report(job, outputs=[]))
    status = await wms.status(task)
    assert (status.failed, status.errors) == (1, {ErrorClass.TOOL_FAILED: 1})
    assert (await wms.sent_messages()).files == {task.log_out_uid: [(0, "00000000.1.log")]}


async def test_optional_output_may_be_missing_and_is_not_counted(wms: WmsFixture) -> None:
    side = TaskOutput(
        port="plots",
        dat_out_uid=uuid4(),
        dat_stor_url="file:///store",
        dat_out_url="file:///store/plots",
        optional=True,
    )
    task = await wms.add_task(make_task(side_outputs=[side]), jobs=2)
    pilot = await wms.add_pilot()
    first, other = await wms.lease(pilot, 2)
    [main, _] = wms.make_report(other).outputs
    without = wms.make_report(other, outputs=[main], log=None)
    await wms.report(pilot, wms.make_report(first), without)
    sent = await wms.sent_messages()
    assert sent.close_at == {
        task.main_output.dat_out_uid: [2],
        side.dat_out_uid: [1],
        task.log_out_uid: [1],
    }


async def test_jobs_are_leased_by_rank_and_fit(wms: WmsFixture) -> None:
    low = await wms.add_task(make_task(rank=1), jobs=5)
    high = await wms.add_task(make_task(rank=2), jobs=2)
    big = await wms.add_task(make_task(rank=9, resources=Resources(cores=16)), jobs=2)
    gpu = await wms.add_task(make_task(rank=9, device_type=DeviceType.GPU), jobs=2)
    pilot = await wms.add_pilot(cores=8)
    leased = await wms.request_lease(pilot, 4, known_tasks=[low.uid])
    assert [job.task_uid for job in leased.jobs] == [high.uid] * 2 + [low.uid] * 2
    assert [leased_task.task.uid for leased_task in leased.tasks] == [high.uid]
    assert (await wms.status(big)).ready == (await wms.status(gpu)).ready == 2
    strong = await wms.add_pilot(cores=32, gpus=["H200"])
    assert {job.task_uid for job in await wms.lease(strong, 4)} == {big.uid, gpu.uid}


async def test_lease_request_waits_until_jobs_are_ready(
    wms: WmsFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    pilot = await wms.add_pilot()
    found_nothing, wait = asyncio.Event(), wms.context.signal.wait

    async def record_wait(version: int, *, seconds: float) -> None:
        found_nothing.set()
        await wait(version, seconds=seconds)

    monkeypatch.setattr(wms.context.signal, "wait", record_wait)
    waiting = asyncio.create_task(wms.lease(pilot, 2, wait=30.0))
    async with asyncio.timeout(10):
        await found_nothing.wait()
    task = await wms.add_task(make_task(), jobs=2)
    async with asyncio.timeout(10):
        assert [job.task_uid for job in await waiting] == [task.uid] * 2
    async with asyncio.timeout(10):
        assert await wms.lease(pilot, 2, wait=0.1) == []


async def test_concurrent_leases_give_every_job_once(
    wms: WmsFixture, other_wms: WmsFixture
) -> None:
    """Invariant 7: two instances lease each job once, and concurrent reports do not deadlock."""
    tasks = [await wms.add_task(make_task(rank=n % 2), jobs=60) for n in range(4)]
    pilots = [await wms.add_pilot() for _ in range(8)]

    async def lease_and_report(at: WmsFixture, pilot: object) -> list[int]:
        done: list[int] = []
        while jobs := await at.lease(pilot, 7):  # type: ignore[arg-type]
            assert await at.finish(pilot, *jobs) == [ReportAnswer.ACCEPTED] * len(jobs)  # type: ignore[arg-type]
            done += [job.id for job in jobs]
        return done

    leased_ids = await asyncio.gather(
        *(lease_and_report((wms, other_wms)[n % 2], pilot) for n, pilot in enumerate(pilots))
    )
    ids = [job_id for part in leased_ids for job_id in part]
    assert len(ids) == len(set(ids)) == 240
    sent = await wms.sent_messages()
    for task in tasks:
        assert (await wms.status(task)).state is TaskState.FINISHED
        assert await wms.states(task) == {JobState.FINISHED: 60}
        assert sent.close_at[task.main_output.dat_out_uid] == [60]


async def test_report_with_values_that_cannot_be_stored_is_answered(wms: WmsFixture) -> None:
    """The pilot would repeat a report without an answer forever."""
    task = await wms.add_task(make_task(), jobs=3)
    pilot = await wms.add_pilot()
    jobs = await wms.lease(pilot, 3)
    invalid_report = wms.make_report(
        jobs[0], AttemptOutcome.FAILED, message="a\0b\x1b[31m\U0001f4a5", exit_code=3221225477
    )
    name = "n"
    hidden = OutputFile(
        port="events",
        name=name,
        size=1,
        checksum=CHECKSUM,
        url=f"{task.main_output.dat_out_url}/a\0{name}",
    )
    impossible = [
        wms.make_report(jobs[2], id=2**70),
        wms.make_report(jobs[2], attempt=2**40),
        wms.make_report(jobs[2], id=-1),
    ]
    answers = await wms.report(
        pilot, invalid_report, wms.make_report(jobs[1], outputs=[hidden]), *impossible
    )
    assert answers == [ReportAnswer.ACCEPTED] * 2 + [ReportAnswer.STALE] * 3
    async with wms.database.connection() as connection:
        job = await get_job_with_attempts(connection, jobs[0].id)
    assert job.message == "ab\x1b[31m\U0001f4a5"
    assert job.attempts[0].exit_code == 2**31 - 1
    assert (await wms.sent_messages()).files == {task.log_out_uid: [(0, "00000000.1.log")]}


async def test_attempts_of_a_job_are_recorded_with_their_details(wms: WmsFixture) -> None:
    await wms.add_task(make_task(), jobs=1)
    pilot = await wms.add_pilot()
    (first,) = await wms.lease(pilot)
    await wms.report(
        pilot,
        wms.make_report(
            first, AttemptOutcome.FAILED, exit_code=3, peak_memory=12.5, cpu_seconds=0.5
        ),
    )
    (second_job,) = await wms.lease(pilot)
    async with wms.database.connection() as connection:
        job = await get_job_with_attempts(connection, first.id)
    past, present = job.attempts
    assert (past.attempt, past.outcome, past.exit_code, past.peak_memory) == (
        1,
        AttemptOutcome.FAILED,
        3,
        12.5,
    )
    assert past.log_url is not None
    assert past.log_url.endswith("/00000000.1.log")
    assert (present.attempt, present.outcome, job.state) == (
        second_job.attempt,
        None,
        JobState.LEASED,
    )
