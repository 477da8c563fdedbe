"""Tasks with a full storage start no jobs that would fail, and continue when there is space."""

from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from uuid import UUID

import pytest

from sluice.clients.dms import DmsClient
from sluice.contracts.common.states import AttemptOutcome, ErrorClass, StorageType
from sluice.contracts.data.datasets import NewStorage
from sluice.contracts.data.storage_space import MAX_NEEDED, FullStorage
from sluice.contracts.jobs.tasks import Task
from sluice.contracts.pilots.heartbeats import Heartbeat
from sluice.servicekit.database import Database
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.db.jobs.leases import ClaimedJob
from wms.db.pilots.pilot_pages import PilotQuery
from wms.db.tasks.ranking import lock_tasks_to_rank
from wms.usecases.leasing.explain_job import explain_job
from wms.usecases.leasing.explain_task import explain_task
from wms.usecases.leasing.renew_leases import renew_leases
from wms.usecases.limits.list_storage_waits import list_storage_waits
from wms.usecases.limits.watch_space import watch_space
from wms.usecases.pilots.get_pilot import get_pilot
from wms.usecases.pilots.list_pilots import list_pilots

#: Bytes of the storage's capacity and of the outputs of a job.
CAPACITY, NEEDED = 100, 300


@pytest.fixture
async def url(dms: DmsClient, tmp_path: Path) -> str:
    """Return the URL of a storage with a capacity."""
    folder = tmp_path.parent / f"{tmp_path.name}-small"
    folder.mkdir()
    storage = NewStorage(
        name="small", type=StorageType.INTERMEDIATE, url=f"file://{folder}", capacity=CAPACITY
    )
    return (await dms.register_storage(storage)).url


def make_writing_task(url: str, **changes: object) -> Task:
    return make_task(dat_stor_url=url, dat_out_url=f"{url}/set", **changes)


async def report_no_space(
    wms: WmsFixture, pilot: UUID, jobs: Sequence[ClaimedJob], *, needed: int = NEEDED
) -> None:
    """Report that the attempts could not store their outputs."""
    reports = []
    for job in jobs:
        storage = f"{wms.tasks[job.task_uid].main_output.dat_out_url}/file"
        reports.append(
            wms.make_report(
                job,
                AttemptOutcome.FAILED,
                error=ErrorClass.NO_SPACE,
                no_space=FullStorage(storage=storage, needed=needed),
            )
        )
    await wms.report(pilot, *reports)


async def end_pauses(wms: WmsFixture) -> None:
    """End all pauses."""
    await wms.execute("UPDATE jobs SET not_before = now() WHERE attempt > 0")
    await wms.execute("UPDATE storage_waits SET try_at = now()")


async def free_space(catalogue: Database, capacity: int = 1000 * CAPACITY) -> None:
    async with catalogue.connection() as connection:
        await connection.execute("UPDATE storages SET capacity = $1 WHERE name = 'small'", capacity)


async def test_jobs_wait_while_their_storage_is_full_and_go_on_when_it_has_space(
    wms: WmsFixture, dms: DmsClient, catalogue: Database, url: str
) -> None:
    task = await wms.add_task(make_writing_task(url, retry=1), jobs=4)
    pilot = await wms.add_pilot()
    await report_no_space(wms, pilot, await wms.lease(pilot, 2))
    for _ in range(3):
        await end_pauses(wms)
        await watch_space(wms.context, dms)
        assert await wms.lease(pilot, 4) == [], "a job was leased for a full storage"
    status = await wms.status(task)
    assert (status.ready, status.failed, status.failed_attempts) == (4, 0, 0)

    await free_space(catalogue)
    await end_pauses(wms)
    await watch_space(wms.context, dms)
    (trial,) = await wms.lease(pilot, 4)
    assert await wms.lease(pilot, 4) == [], "more than one trial was leased"
    await wms.finish(pilot, trial)
    rest = await wms.lease(pilot, 4)
    assert len(rest) == 3
    await wms.finish(pilot, *rest)
    assert (await wms.status(task)).finished == 4
    assert (await list_storage_waits(wms.context)).waits == []


async def test_trials_on_a_full_storage_become_rarer(
    wms: WmsFixture, dms: DmsClient, catalogue: Database, url: str
) -> None:
    """A quota is exhausted, but the file system reports free space."""
    await free_space(catalogue)
    await wms.add_task(make_writing_task(url), jobs=3)
    pilot = await wms.add_pilot()
    await report_no_space(wms, pilot, await wms.lease(pilot, 2))
    pauses = []
    for _ in range(4):
        await end_pauses(wms)
        await watch_space(wms.context, dms)
        trials = await wms.lease(pilot, 3)
        assert len(trials) == 1
        await report_no_space(wms, pilot, trials)
        async with wms.database.connection() as connection:
            pauses.append(await connection.fetchval("SELECT try_at - now() FROM storage_waits"))
        await watch_space(wms.context, dms)
        assert await wms.lease(pilot, 3) == [], "the next trial came without a pause"
    assert all(one * 1.5 < next_one < one * 2.5 for one, next_one in pairwise(pauses))


async def test_false_size_from_a_pilot_stops_a_task_for_ten_minutes_at_most(
    wms: WmsFixture, dms: DmsClient, catalogue: Database, url: str
) -> None:
    await free_space(catalogue)
    await wms.add_task(make_writing_task(url), jobs=3)
    wrong_pilot, right_pilot = await wms.add_pilot(), await wms.add_pilot()
    await report_no_space(wms, wrong_pilot, await wms.lease(wrong_pilot), needed=MAX_NEEDED)
    await end_pauses(wms)
    await watch_space(wms.context, dms)
    assert await wms.lease(right_pilot, 3) == [], "a job was leased although its size does not fit"

    await wms.execute("UPDATE storage_waits SET tried_at = now() - interval '10 minutes'")
    for _ in range(2):
        await watch_space(wms.context, dms)
        assert await wms.lease(wrong_pilot, 3) == [], (
            "the trial went to the pilot that reported the size"
        )
    (trial,) = await wms.lease(right_pilot, 3)
    await watch_space(wms.context, dms)
    assert await wms.lease(right_pilot, 3) == [], "a second trial came within ten minutes"
    await wms.finish(right_pilot, trial)
    assert len(await wms.lease(right_pilot, 3)) == 2


async def test_trial_goes_to_the_reporting_pilot_when_no_other_pilot_takes_it(
    wms: WmsFixture, dms: DmsClient, catalogue: Database, url: str
) -> None:
    await free_space(catalogue)
    await wms.add_task(make_writing_task(url), jobs=2)
    pilot, _busy = await wms.add_pilot(), await wms.add_pilot()
    await report_no_space(wms, pilot, await wms.lease(pilot))
    await end_pauses(wms)
    await watch_space(wms.context, dms)
    assert await wms.lease(pilot) == []
    await wms.execute("UPDATE storage_waits SET opened_at = opened_at - interval '30 seconds'")
    assert len(await wms.lease(pilot)) == 1


async def test_size_needed_by_a_trial_replaces_the_earlier_size(
    wms: WmsFixture, dms: DmsClient, catalogue: Database, url: str
) -> None:
    await free_space(catalogue)
    await wms.add_task(make_writing_task(url), jobs=3)
    pilot = await wms.add_pilot()
    first, second = await wms.lease(pilot, 2)
    await report_no_space(wms, pilot, [first], needed=MAX_NEEDED)
    await report_no_space(wms, pilot, [second])
    (wait,) = (await list_storage_waits(wms.context)).waits
    assert wait.needed == MAX_NEEDED, "the largest reported size does not count"
    await wms.execute("UPDATE storage_waits SET tried_at = now() - interval '10 minutes'")
    await end_pauses(wms)
    await watch_space(wms.context, dms)
    await report_no_space(wms, pilot, await wms.lease(pilot))
    (wait,) = (await list_storage_waits(wms.context)).waits
    assert wait.needed == NEEDED


async def test_report_about_a_storage_of_another_task_is_ignored(
    wms: WmsFixture, dms: DmsClient, url: str
) -> None:
    await wms.add_task(make_task(), jobs=2)
    pilot = await wms.add_pilot()
    (job,) = await wms.lease(pilot)
    foreign = FullStorage(storage=f"{url}/set/file", needed=MAX_NEEDED)
    report = wms.make_report(
        job, AttemptOutcome.FAILED, error=ErrorClass.NO_SPACE, no_space=foreign
    )
    await wms.report(pilot, report)
    await watch_space(wms.context, dms)
    assert (await list_storage_waits(wms.context)).waits == []
    assert [storage.full for storage in await dms.list_storages(all=True)] == [
        None,
        None,
    ]


async def test_full_storage_raises_no_rank(wms: WmsFixture, dms: DmsClient, url: str) -> None:
    task = await wms.add_task(make_writing_task(url), jobs=4)
    pilot = await wms.add_pilot()
    await report_no_space(wms, pilot, await wms.lease(pilot, 4))
    await watch_space(wms.context, dms)
    await wms.execute("UPDATE tasks SET served_at = now() - interval '1 hour', ranked_at = now()")
    async with wms.database.transaction() as transaction:
        (ranked,) = await lock_tasks_to_rank(transaction.connection, age=timedelta())
    assert (ranked.uid, ranked.failed_attempts, ranked.waited) == (task.uid, 0, 0.0)


async def test_full_storage_is_explained_to_people_and_shown_in_the_catalogue(
    wms: WmsFixture, dms: DmsClient, catalogue: Database, url: str
) -> None:
    task = await wms.add_task(make_writing_task(url), jobs=4)
    pilot = await wms.add_pilot()
    jobs = await wms.lease(pilot, 4)
    await report_no_space(wms, pilot, jobs)
    await watch_space(wms.context, dms)
    (wait,) = (await list_storage_waits(wms.context)).waits
    assert (wait.name, wait.needed, wait.free, wait.jobs) == ("small", NEEDED, CAPACITY, 4)
    assert wait.tasks == [task.uid]
    explanation = (
        "Waiting for space: storage small is full: a job needs 300 B, 100 B free; free space there,"
        " and they go on by themselves"
    )
    assert (await explain_task(wms.context, task.uid)).text.startswith(explanation)
    assert (await explain_job(wms.context, jobs[0].id)).text.startswith(explanation)
    (small,) = [one for one in await dms.list_storages(all=True) if one.name == "small"]
    assert small.full == "100 B free of 100 B, 300 B needed"
    assert (small.full_for, small.rejection_reason) == (NEEDED, None), (
        "the storage refuses smaller files"
    )

    await free_space(catalogue)
    await watch_space(wms.context, dms)
    await end_pauses(wms)
    await watch_space(wms.context, dms)
    await wms.finish(pilot, *await wms.lease(pilot))
    await watch_space(wms.context, dms)
    (small,) = [one for one in await dms.list_storages(all=True) if one.name == "small"]
    assert small.full is None


async def use_up_capacity(catalogue: Database) -> None:
    async with catalogue.connection() as connection:
        await connection.execute(
            "INSERT INTO storage_usage (storage_id, bytes) SELECT id, $1 FROM storages"
            " WHERE name = 'small'",
            CAPACITY,
        )


async def test_full_storage_without_waiting_jobs_is_shown_until_it_has_space(
    wms: WmsFixture, dms: DmsClient, catalogue: Database, url: str
) -> None:
    await use_up_capacity(catalogue)
    await wms.add_task(make_task(), jobs=1)
    await watch_space(wms.context, dms)
    assert url in {one.url for one in await dms.list_storages(all=True) if one.full}
    await free_space(catalogue)
    for _ in range(2):
        await watch_space(wms.context, dms)
        assert not any(one.full for one in await dms.list_storages(all=True))


async def test_full_storage_stops_the_jobs_of_other_tasks_too(
    wms: WmsFixture, dms: DmsClient, catalogue: Database, url: str
) -> None:
    await use_up_capacity(catalogue)
    await wms.add_task(make_writing_task(url), jobs=2)
    other_task = await wms.add_task(make_task(), jobs=2)
    await watch_space(wms.context, dms)
    pilot = await wms.add_pilot()
    assert {job.task_uid for job in await wms.lease(pilot, 4)} == {other_task.uid}


async def test_smaller_outputs_still_go_to_a_storage_too_full_for_large_outputs(
    wms: WmsFixture, dms: DmsClient, url: str
) -> None:
    """Downstream tasks may read the smaller files and free the missing space."""
    await wms.add_task(make_writing_task(url), jobs=1)
    pilot = await wms.add_pilot()
    await report_no_space(wms, pilot, await wms.lease(pilot))
    small = await wms.add_task(make_writing_task(url), jobs=2)
    await watch_space(wms.context, dms)
    assert {job.task_uid for job in await wms.lease(pilot, 4)} == {small.uid}


async def test_full_disk_of_a_node_is_not_taken_for_a_full_storage(
    wms: WmsFixture, dms: DmsClient, url: str
) -> None:
    """A longer pause follows each attempt on the node."""
    task = await wms.add_task(make_writing_task(url, retry=1), jobs=1)
    pilot = await wms.add_pilot()
    pauses = []
    for _ in range(5):
        (job,) = await wms.lease(pilot)
        await wms.fail(pilot, job, error=ErrorClass.NO_SPACE)
        async with wms.database.connection() as connection:
            pauses.append(
                await connection.fetchval(
                    "SELECT extract(epoch FROM not_before - now())::float FROM jobs"
                )
            )
        await end_pauses(wms)
    assert [round(pause / 5) for pause in pauses] == [1, 2, 4, 8, 16]
    assert (await list_storage_waits(wms.context)).waits == []
    assert (await wms.status(task)).failed_attempts == 0


async def test_pilot_with_a_full_disk_is_shown_as_such_until_it_recovers(
    wms: WmsFixture,
) -> None:
    pilot = await wms.add_pilot()
    for report in ("its disk is full", ""):
        await renew_leases(wms.context, pilot, Heartbeat(trouble=report))
        (listed_pilot,) = (await list_pilots(wms.context, PilotQuery(limit=10))).pilots
        assert listed_pilot.trouble == report
        assert (await get_pilot(wms.context, pilot)).pilot.trouble == report
