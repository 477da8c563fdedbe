"""A pilot whose jobs fail where other pilots succeed gets fewer jobs."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from sluice.contracts.common.states import ErrorClass
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.db.pilots.pilot_pages import PilotQuery
from wms.db.pilots.pilot_times import WorkKind, list_identities, list_times
from wms.usecases.leasing.expire_leases import expire_leases
from wms.usecases.pilots.list_pilots import list_pilots
from wms.usecases.pilots.sign_off_pilot import sign_off_pilot
from wms.usecases.times.learn_times import learn_times

WORK = WorkKind("t", "decode")


async def add_two_pilots(wms: WmsFixture) -> list[UUID]:
    return [await wms.add_pilot(name=name) for name in ("slow", "quick")]


async def record_failures(wms: WmsFixture, bad: UUID, good: UUID) -> None:
    """Let jobs fail on one pilot and succeed on another."""
    await wms.record_durations(*[(bad, None)] * 6, *[(good, 1.0)] * 6)


async def test_pilot_that_fails_where_others_succeed_gets_a_job_now_and_then(
    wms: WmsFixture,
) -> None:
    bad, good = await add_two_pilots(wms)
    await record_failures(wms, bad, good)
    task = await wms.add_task(make_task(), jobs=10)
    assert len(await wms.lease(bad, 5)) == 1, "the pilot did not get exactly one job as a trial"
    assert await wms.lease(bad, 5) == []
    await wms.execute("UPDATE pilot_times SET probed_at = now() - interval '1 hour'")
    assert len(await wms.lease(bad, 5)) == 1
    assert len(await wms.lease(good, 5)) == 5
    assert (await wms.status(task)).ready == 3
    listed = (await list_pilots(wms.context, PilotQuery(limit=10))).pilots
    assert {pilot.name: pilot.quarantined_steps for pilot in listed} == {
        "slow": ["decode"],
        "quick": [],
    }


async def test_failing_pilot_keeps_its_turn_while_jobs_are_left_to_others(wms: WmsFixture) -> None:
    bad, good = await add_two_pilots(wms)
    await wms.record_durations(*[(bad, 100.0)] * 2, *[(bad, None)] * 6, *[(good, 1.0)] * 6)
    await wms.add_task(make_task(), jobs=2)
    running = await wms.lease(good, 1)
    await wms.send_heartbeat(good, running=running)
    assert await wms.lease(bad, 5) == [], "the good pilot ends the job sooner"
    await wms.add_task(make_task(), jobs=900)
    assert len(await wms.lease(bad, 5)) == 1


async def test_pilot_with_some_failures_gets_one_job_at_a_time(wms: WmsFixture) -> None:
    bad, good = await add_two_pilots(wms)
    await wms.record_durations(*[(bad, None)] * 3, *[(bad, 1.0)] * 5, *[(good, 1.0)] * 6)
    await wms.add_task(make_task(), jobs=10)
    jobs = await wms.lease(bad, 5)
    assert (len(jobs), len(await wms.lease(bad, 5))) == (1, 0)
    await wms.finish(bad, *jobs)
    assert len(await wms.lease(bad, 5)) == 1


async def count_failures(wms: WmsFixture, pilot: UUID) -> int:
    """Return the failures that are known of the pilot."""
    await learn_times(wms.context)
    async with wms.database.connection() as connection:
        identity = (await list_identities(connection, [pilot]))[pilot]
        times = (await list_times(connection, [WORK])).get(WORK, {})
    return times[identity].failures if identity in times else 0


async def test_failures_caused_by_the_input_do_not_count_against_a_pilot(wms: WmsFixture) -> None:
    pilot = await wms.add_pilot()
    await wms.add_task(make_task(), jobs=2)
    failed, refused = await wms.lease(pilot, 2)
    await wms.fail(pilot, failed)
    assert await count_failures(wms, pilot) == 1
    await wms.fail(pilot, refused, error=ErrorClass.TOOL_REFUSED)
    assert await count_failures(wms, pilot) == 1


async def test_lost_pilot_counts_as_one_failure_only_if_jobs_were_running(
    wms: WmsFixture,
) -> None:
    pilot, other = await wms.add_pilot(name="gone"), await wms.add_pilot(name="idle")
    await wms.add_task(make_task(), jobs=8)
    running, waiting = await wms.lease(pilot, 4), await wms.lease(other, 4)
    await wms.send_heartbeat(pilot, running=running)
    await wms.backdate_leases(*running, *waiting)
    await expire_leases(wms.context)
    assert [await count_failures(wms, one) for one in (pilot, other)] == [1, 0]


async def test_restarted_pilot_counts_as_one_failure(wms: WmsFixture) -> None:
    pilot = await wms.add_pilot()
    await wms.add_task(make_task(), jobs=4)
    jobs = await wms.lease(pilot, 4)
    await wms.send_heartbeat(pilot, running=jobs)
    await wms.fail(pilot, *jobs, error=ErrorClass.PILOT_LOST)
    assert await count_failures(wms, pilot) == 1


async def test_failures_on_all_pilots_do_not_count_against_a_pilot(wms: WmsFixture) -> None:
    one, other = await add_two_pilots(wms)
    await wms.record_durations(*[(pilot, None) for pilot in (one, other) for _ in range(6)])
    await wms.record_durations((one, 1.0), (other, 1.0))
    await wms.add_task(make_task(), jobs=10)
    assert len(await wms.lease(one, 5)) == 5


async def test_failing_pilot_gets_jobs_of_other_steps_as_before(wms: WmsFixture) -> None:
    bad, good = await add_two_pilots(wms)
    await record_failures(wms, bad, good)
    await wms.add_task(make_task(step="other"), jobs=10)
    assert len(await wms.lease(bad, 5)) == 5


async def test_pilot_that_succeeds_again_gets_jobs_as_before(wms: WmsFixture) -> None:
    bad, good = await add_two_pilots(wms)
    await record_failures(wms, bad, good)
    await wms.record_durations(*[(bad, 1.0)] * 15)
    await wms.add_task(make_task(), jobs=10)
    assert len(await wms.lease(bad, 5)) == 5


async def test_failing_pilot_gets_jobs_when_the_better_pilot_is_gone(wms: WmsFixture) -> None:
    """No other pilot would run the jobs."""
    bad, good = await add_two_pilots(wms)
    await record_failures(wms, bad, good)
    await sign_off_pilot(wms.context, good, [])
    await wms.add_task(make_task(), jobs=10)
    assert len(await wms.lease(bad, 5)) == 5


async def test_run_time_is_bounded_by_the_lease_whatever_the_pilots_clock_says(
    wms: WmsFixture,
) -> None:
    """The clock of a node may jump from 1970 when its network comes up."""
    slow, quick = await add_two_pilots(wms)
    task = await wms.add_task(make_task(), jobs=1)
    (job,) = await wms.lease(slow)
    await wms.send_heartbeat(slow, running=[job])
    second = await wms.start_duplicate(quick, job)
    assert second is not None
    await wms.report(quick, wms.make_report(second, started_at=datetime(1970, 1, 1, tzinfo=UTC)))
    [end] = [end for end in wms.context.ends.take() if not end.is_least]
    assert (await wms.status(task)).finished == 1
    async with wms.database.connection() as connection:
        since_lease = await connection.fetchval(
            "SELECT extract(epoch FROM ended_at - leased_at)::float8 FROM attempts"
            " WHERE attempt = 2"
        )
        counted = await connection.fetchval("SELECT seconds FROM jobs")
    assert (end.pilot, end.seconds) == (quick, since_lease)
    assert counted == pytest.approx(since_lease)
