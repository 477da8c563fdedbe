"""Tasks whose storage is full: no job is started in vain, and they go on when there is room."""

from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from uuid import UUID

import pytest

from sluice.clients.dms import DmsClient
from sluice.contracts.datasets import NewStorage
from sluice.contracts.pilots import Heartbeat
from sluice.contracts.room import MAX_NEEDED, FullStorage
from sluice.contracts.states import AttemptOutcome, ErrorClass, StorageType
from sluice.contracts.tasks import Task
from sluice.servicekit.database import Database
from tests.integration.wms.stage import Stage, make_task
from wms.db.leases import ClaimedJob
from wms.db.pilot_pages import PilotQuery
from wms.db.ranking import tasks_to_rank
from wms.usecases.explain import explain_job, explain_task
from wms.usecases.list_pilots import list_pilots
from wms.usecases.list_room_waits import list_room_waits
from wms.usecases.read_pilot import read_pilot
from wms.usecases.renew_leases import renew_leases
from wms.usecases.watch_room import watch_room

#: Bytes: what the storage has room for, and what the outputs of a job take.
CAPACITY, NEEDED = 100, 300


@pytest.fixture
async def url(dms: DmsClient, tmp_path: Path) -> str:
    """Of a storage with a capacity."""
    folder = tmp_path.parent / f"{tmp_path.name}-small"
    folder.mkdir()
    storage = NewStorage(
        name="small", type=StorageType.INTERMEDIATE, url=f"file://{folder}", capacity=CAPACITY
    )
    return (await dms.register_storage(storage)).url


def writing_to(url: str, **changes: object) -> Task:
    return make_task(dat_stor_url=url, dat_out_url=f"{url}/set", **changes)


async def find_no_room(
    stage: Stage, pilot: UUID, jobs: Sequence[ClaimedJob], *, needed: int = NEEDED
) -> None:
    """The attempts could not store their outputs."""
    reports = []
    for job in jobs:
        storage = f"{stage.tasks[job.task_uid].main_output.dat_out_url}/file"
        reports.append(
            stage.report_of(
                job,
                AttemptOutcome.FAILED,
                error=ErrorClass.NO_ROOM,
                no_room=FullStorage(storage=storage, needed=needed),
            )
        )
    await stage.report(pilot, *reports)


async def later(stage: Stage) -> None:
    """All pauses are over."""
    await stage.execute("UPDATE jobs SET not_before = now() WHERE attempt > 0")
    await stage.execute("UPDATE room_waits SET try_at = now()")


async def make_room(catalogue: Database, capacity: int = 1000 * CAPACITY) -> None:
    async with catalogue.connection() as connection:
        await connection.execute("UPDATE storages SET capacity = $1 WHERE name = 'small'", capacity)


async def test_no_job_starts_while_its_storage_is_full_and_all_go_on_when_there_is_room(
    stage: Stage, dms: DmsClient, catalogue: Database, url: str
) -> None:
    task = await stage.add_task(writing_to(url, retry=1), jobs=4)
    pilot = await stage.add_pilot()
    await find_no_room(stage, pilot, await stage.lease(pilot, 2))
    for _ in range(3):
        await later(stage)
        await watch_room(stage.context, dms)
        assert await stage.lease(pilot, 4) == [], "neither those tried nor fresh ones"
    status = await stage.status(task)
    assert (status.ready, status.failed, status.failed_attempts) == (4, 0, 0)

    await make_room(catalogue)
    await later(stage)
    await watch_room(stage.context, dms)
    (trial,) = await stage.lease(pilot, 4)
    assert await stage.lease(pilot, 4) == [], "one is tried first"
    await stage.finish(pilot, trial)
    rest = await stage.lease(pilot, 4)
    assert len(rest) == 3
    await stage.finish(pilot, *rest)
    assert (await stage.status(task)).finished == 4
    assert (await list_room_waits(stage.context)).waits == []


async def test_trials_that_find_no_room_become_rarer(
    stage: Stage, dms: DmsClient, catalogue: Database, url: str
) -> None:
    """A quota is used up, of which the file system says nothing: it seems to have room."""
    await make_room(catalogue)
    await stage.add_task(writing_to(url), jobs=3)
    pilot = await stage.add_pilot()
    await find_no_room(stage, pilot, await stage.lease(pilot, 2))
    pauses = []
    for _ in range(4):
        await later(stage)
        await watch_room(stage.context, dms)
        trials = await stage.lease(pilot, 3)
        assert len(trials) == 1
        await find_no_room(stage, pilot, trials)
        async with stage.database.connection() as connection:
            pauses.append(await connection.fetchval("SELECT try_at - now() FROM room_waits"))
        await watch_room(stage.context, dms)
        assert await stage.lease(pilot, 3) == [], "the next trial comes after a pause"
    assert all(one * 1.5 < next_one < one * 2.5 for one, next_one in pairwise(pauses))


async def test_size_that_a_pilot_makes_up_stops_a_task_for_ten_minutes_at_most(
    stage: Stage, dms: DmsClient, catalogue: Database, url: str
) -> None:
    await make_room(catalogue)
    await stage.add_task(writing_to(url), jobs=3)
    liar, honest = await stage.add_pilot(), await stage.add_pilot()
    await find_no_room(stage, liar, await stage.lease(liar), needed=MAX_NEEDED)
    await later(stage)
    await watch_room(stage.context, dms)
    assert await stage.lease(honest, 3) == [], "it seems not to fit"

    await stage.execute("UPDATE room_waits SET tried_at = now() - interval '10 minutes'")
    for _ in range(2):
        await watch_room(stage.context, dms)
        assert await stage.lease(liar, 3) == [], "the trial is kept for another pilot"
    (trial,) = await stage.lease(honest, 3)
    await watch_room(stage.context, dms)
    assert await stage.lease(honest, 3) == [], "one trial each ten minutes"
    await stage.finish(honest, trial)
    assert len(await stage.lease(honest, 3)) == 2


async def test_trial_goes_to_the_pilot_that_found_no_room_when_no_other_takes_it(
    stage: Stage, dms: DmsClient, catalogue: Database, url: str
) -> None:
    await make_room(catalogue)
    await stage.add_task(writing_to(url), jobs=2)
    pilot, _busy = await stage.add_pilot(), await stage.add_pilot()
    await find_no_room(stage, pilot, await stage.lease(pilot))
    await later(stage)
    await watch_room(stage.context, dms)
    assert await stage.lease(pilot) == []
    await stage.execute("UPDATE room_waits SET opened_at = opened_at - interval '30 seconds'")
    assert len(await stage.lease(pilot)) == 1


async def test_size_that_a_trial_needs_replaces_what_was_said_before(
    stage: Stage, dms: DmsClient, catalogue: Database, url: str
) -> None:
    await make_room(catalogue)
    await stage.add_task(writing_to(url), jobs=3)
    pilot = await stage.add_pilot()
    first, second = await stage.lease(pilot, 2)
    await find_no_room(stage, pilot, [first], needed=MAX_NEEDED)
    await find_no_room(stage, pilot, [second])
    (wait,) = (await list_room_waits(stage.context)).waits
    assert wait.needed == MAX_NEEDED, "the largest of the jobs that were running"
    await stage.execute("UPDATE room_waits SET tried_at = now() - interval '10 minutes'")
    await later(stage)
    await watch_room(stage.context, dms)
    await find_no_room(stage, pilot, await stage.lease(pilot))
    (wait,) = (await list_room_waits(stage.context)).waits
    assert wait.needed == NEEDED


async def test_pilot_says_nothing_of_storages_that_its_task_does_not_write_to(
    stage: Stage, dms: DmsClient, url: str
) -> None:
    await stage.add_task(make_task(), jobs=2)
    pilot = await stage.add_pilot()
    (job,) = await stage.lease(pilot)
    foreign = FullStorage(storage=f"{url}/set/file", needed=MAX_NEEDED)
    report = stage.report_of(job, AttemptOutcome.FAILED, error=ErrorClass.NO_ROOM, no_room=foreign)
    await stage.report(pilot, report)
    await watch_room(stage.context, dms)
    assert (await list_room_waits(stage.context)).waits == []
    assert [storage.full for storage in await dms.storages(everything=True)] == [None, None]


async def test_a_full_storage_raises_no_rank(stage: Stage, dms: DmsClient, url: str) -> None:
    task = await stage.add_task(writing_to(url), jobs=4)
    pilot = await stage.add_pilot()
    await find_no_room(stage, pilot, await stage.lease(pilot, 4))
    await watch_room(stage.context, dms)
    await stage.execute("UPDATE tasks SET served_at = now() - interval '1 hour', ranked_at = now()")
    async with stage.database.transaction() as transaction:
        (ranked,) = await tasks_to_rank(transaction.connection, age=timedelta())
    assert (ranked.uid, ranked.failed_attempts, ranked.waited) == (task.uid, 0, 0.0)


async def test_people_and_the_catalogue_are_told_what_is_missing(
    stage: Stage, dms: DmsClient, catalogue: Database, url: str
) -> None:
    task = await stage.add_task(writing_to(url), jobs=4)
    pilot = await stage.add_pilot()
    jobs = await stage.lease(pilot, 4)
    await find_no_room(stage, pilot, jobs)
    await watch_room(stage.context, dms)
    (wait,) = (await list_room_waits(stage.context)).waits
    assert (wait.name, wait.needed, wait.free, wait.jobs) == ("small", NEEDED, CAPACITY, 4)
    assert wait.tasks == [task.uid]
    said = (
        "Waiting for room: storage small is full: a job needs 300 B, 100 B free; make room there,"
        " and they go on by themselves"
    )
    assert (await explain_task(stage.context, task.uid)).text.startswith(said)
    assert (await explain_job(stage.context, jobs[0].id)).text.startswith(said)
    (small,) = [one for one in await dms.storages(everything=True) if one.name == "small"]
    assert small.full == "100 B free of 100 B, 300 B needed"
    assert (small.full_for, small.objection) == (NEEDED, None), "smaller files still go there"

    await make_room(catalogue)
    await watch_room(stage.context, dms)
    await later(stage)
    await watch_room(stage.context, dms)
    await stage.finish(pilot, *await stage.lease(pilot))
    await watch_room(stage.context, dms)
    (small,) = [one for one in await dms.storages(everything=True) if one.name == "small"]
    assert small.full is None


async def use_up_capacity(catalogue: Database) -> None:
    async with catalogue.connection() as connection:
        await connection.execute(
            "INSERT INTO storage_usage (storage_id, bytes) SELECT id, $1 FROM storages"
            " WHERE name = 'small'",
            CAPACITY,
        )


async def test_storage_that_no_job_waits_for_is_shown_as_full_until_it_has_room(
    stage: Stage, dms: DmsClient, catalogue: Database, url: str
) -> None:
    await use_up_capacity(catalogue)
    await stage.add_task(make_task(), jobs=1)
    await watch_room(stage.context, dms)
    assert url in {one.url for one in await dms.storages(everything=True) if one.full}
    await make_room(catalogue)
    for _ in range(2):
        await watch_room(stage.context, dms)
        assert not any(one.full for one in await dms.storages(everything=True))


async def test_other_tasks_of_a_full_storage_start_no_job_either(
    stage: Stage, dms: DmsClient, catalogue: Database, url: str
) -> None:
    await use_up_capacity(catalogue)
    await stage.add_task(writing_to(url), jobs=2)
    elsewhere = await stage.add_task(make_task(), jobs=2)
    await watch_room(stage.context, dms)
    pilot = await stage.add_pilot()
    assert {job.task_uid for job in await stage.lease(pilot, 4)} == {elsewhere.uid}


async def test_smaller_outputs_still_go_to_a_storage_that_is_too_full_for_large_ones(
    stage: Stage, dms: DmsClient, url: str
) -> None:
    """What they make may let downstream tasks free the room that is missing."""
    await stage.add_task(writing_to(url), jobs=1)
    pilot = await stage.add_pilot()
    await find_no_room(stage, pilot, await stage.lease(pilot))
    small = await stage.add_task(writing_to(url), jobs=2)
    await watch_room(stage.context, dms)
    assert {job.task_uid for job in await stage.lease(pilot, 4)} == {small.uid}


async def test_a_full_disk_of_a_node_is_not_taken_for_a_full_storage(
    stage: Stage, dms: DmsClient, url: str
) -> None:
    """Each attempt there is followed by a longer pause."""
    task = await stage.add_task(writing_to(url, retry=1), jobs=1)
    pilot = await stage.add_pilot()
    pauses = []
    for _ in range(5):
        (job,) = await stage.lease(pilot)
        await stage.fail(pilot, job, error=ErrorClass.NO_ROOM)
        async with stage.database.connection() as connection:
            pauses.append(
                await connection.fetchval(
                    "SELECT extract(epoch FROM not_before - now())::float FROM jobs"
                )
            )
        await later(stage)
    assert [round(pause / 5) for pause in pauses] == [1, 2, 4, 8, 16]
    assert (await list_room_waits(stage.context)).waits == []
    assert (await stage.status(task)).failed_attempts == 0


async def test_a_pilot_with_a_full_disk_is_shown_so_until_it_takes_jobs_again(
    stage: Stage,
) -> None:
    pilot = await stage.add_pilot()
    for trouble in ("its disk is full", ""):
        await renew_leases(stage.context, pilot, Heartbeat(trouble=trouble))
        (shown,) = (await list_pilots(stage.context, PilotQuery(limit=10))).pilots
        assert shown.trouble == trouble
        assert (await read_pilot(stage.context, pilot)).pilot.trouble == trouble
