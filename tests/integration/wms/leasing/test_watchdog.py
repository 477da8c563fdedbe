"""The watchdog is a placement policy: pilots stay until a round moves one of them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest

from sluice.contracts.jobs.simulation import PolicyName
from sluice.contracts.jobs.steps import RankStep
from sluice.contracts.jobs.warm_workers import LoadState, WarmWorkerState
from sluice.contracts.pilots.heartbeats import Heartbeat
from sluice.contracts.pilots.leases import LeaseRequest
from tests.integration.wms.leasing.warm_stages import add_two_stages
from tests.integration.wms.wms_fixture import WmsFixture
from wms.domain.placement.policies import create_policy
from wms.usecases.leasing.lease_jobs import lease_jobs
from wms.usecases.leasing.place_pilots import place_pilots
from wms.usecases.leasing.renew_leases import renew_leases
from wms.usecases.tasks.prioritise_step import prioritise_step
from wms.usecases.ttl_cache import TtlCache

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
PERIOD = 10.0


@pytest.fixture
def watchdog_wms(wms: WmsFixture) -> WmsFixture:
    wms.context = replace(wms.context, policy=create_policy(PolicyName.WATCHDOG, every=PERIOD))
    return wms


async def add_pilot_with_tool(
    wms: WmsFixture, kind: str, *, state: LoadState = LoadState.WORKING, since: datetime = LONG_AGO
) -> UUID:
    """Add a pilot that has reported a warm worker of ``kind``."""
    pilot = await wms.add_pilot(name=f"has-{kind}")
    tool = WarmWorkerState(kind=kind, step=kind, since=since, loading=5.0, state=state)
    await renew_leases(wms.context, pilot, Heartbeat(loaded=[tool]))
    return pilot


async def lease_step(wms: WmsFixture, pilot: UUID, *loaded: str) -> Sequence[str]:
    """Return the step of the job that the pilot gets."""
    wms.context = replace(wms.context, kinds=TtlCache())
    request = LeaseRequest(jobs=1, loaded=list(loaded))
    jobs = (await lease_jobs(wms.context, pilot, request)).jobs
    return [wms.tasks[job.task_uid].step for job in jobs]


async def clear_warm_workers(wms: WmsFixture) -> None:
    """Remove the warm workers of the pilot that ``add_two_stages`` has added."""
    await wms.execute("UPDATE pilots SET loaded = '[]' WHERE name = 'warm'")


async def list_ordered_pilots(wms: WmsFixture) -> list[UUID]:
    """Return the pilots that have not executed their order yet."""
    async with wms.context.database.connection() as connection:
        rows = await connection.fetch("SELECT uid FROM pilots WHERE placed_kind IS NOT NULL")
    return [row["uid"] for row in rows]


async def test_busy_pilot_keeps_its_kind_until_a_round_moves_it(watchdog_wms: WmsFixture) -> None:
    await add_two_stages(watchdog_wms, layout=9, read=90)
    await clear_warm_workers(watchdog_wms)
    pilot = await add_pilot_with_tool(watchdog_wms, "layout")
    assert await lease_step(watchdog_wms, pilot, "layout") == ["layout"], (
        "the pilot left its kind before a round"
    )
    assert await place_pilots(watchdog_wms.context, period=PERIOD) == 1
    assert await lease_step(watchdog_wms, pilot, "layout") == ["read"]
    assert await place_pilots(watchdog_wms.context, period=PERIOD) == 0, (
        "a pilot with an order was moved again"
    )


async def test_one_pilot_moves_in_a_period_and_only_after_its_unlock_time(
    watchdog_wms: WmsFixture,
) -> None:
    await add_two_stages(watchdog_wms, layout=9, read=90)
    await clear_warm_workers(watchdog_wms)
    recent_pilot = await add_pilot_with_tool(watchdog_wms, "layout", since=datetime.now(UTC))
    assert await place_pilots(watchdog_wms.context, period=PERIOD) == 0, (
        "the pilot moved before its unlock time"
    )
    others = [await add_pilot_with_tool(watchdog_wms, "layout") for _ in range(2)]
    assert await place_pilots(watchdog_wms.context, period=PERIOD) == 1
    [ordered_pilots] = await list_ordered_pilots(watchdog_wms)
    assert ordered_pilots in others
    assert ordered_pilots != recent_pilot
    assert await place_pilots(watchdog_wms.context, period=PERIOD) == 0, (
        "a second pilot moved in the period"
    )
    await watchdog_wms.execute("UPDATE pilots SET placed_at = now() - interval '1 minute'")
    assert await place_pilots(watchdog_wms.context, period=PERIOD) == 1


async def test_idle_pilot_takes_the_kind_of_highest_priority_when_it_asks(
    watchdog_wms: WmsFixture,
) -> None:
    await add_two_stages(watchdog_wms, layout=9, read=90)
    await clear_warm_workers(watchdog_wms)
    assert await lease_step(watchdog_wms, await watchdog_wms.add_pilot(name="idle")) == ["read"]


async def test_priority_of_a_step_weighs_in_the_formula(watchdog_wms: WmsFixture) -> None:
    await add_two_stages(watchdog_wms, layout=9, read=90)
    await clear_warm_workers(watchdog_wms)
    await prioritise_step(watchdog_wms.context, RankStep(step="layout", priority=90, by="Ann"))
    assert await lease_step(watchdog_wms, await watchdog_wms.add_pilot(name="idle")) == ["layout"]
    await prioritise_step(watchdog_wms.context, RankStep(step="layout", priority=-1, by="Ann"))
    assert await lease_step(watchdog_wms, await watchdog_wms.add_pilot(name="other")) == ["read"]


async def test_priority_of_a_step_does_not_raise_its_rank_over_others(
    watchdog_wms: WmsFixture,
) -> None:
    """Otherwise the priority would count twice, and jobs of other steps would not count."""
    await add_two_stages(watchdog_wms, layout=9, read=90)
    await clear_warm_workers(watchdog_wms)
    await prioritise_step(watchdog_wms.context, RankStep(step="layout", priority=2, by="Ann"))
    await add_pilot_with_tool(watchdog_wms, "layout")
    assert await place_pilots(watchdog_wms.context, period=PERIOD) == 1


async def test_order_of_a_person_takes_precedence(watchdog_wms: WmsFixture) -> None:
    await add_two_stages(watchdog_wms, layout=9, read=90)
    await clear_warm_workers(watchdog_wms)
    pilot = await add_pilot_with_tool(watchdog_wms, "layout")
    await watchdog_wms.execute("UPDATE pilots SET to_load = 'layout' WHERE uid = $1", pilot)
    assert await place_pilots(watchdog_wms.context, period=PERIOD) == 0
    assert await lease_step(watchdog_wms, pilot, "layout") == ["layout"]


async def test_order_is_deleted_when_it_is_carried_out(watchdog_wms: WmsFixture) -> None:
    await add_two_stages(watchdog_wms, layout=9, read=90)
    await clear_warm_workers(watchdog_wms)
    pilot = await add_pilot_with_tool(watchdog_wms, "layout")
    assert await place_pilots(watchdog_wms.context, period=PERIOD) == 1
    tool = WarmWorkerState(
        kind="read", step="read", since=datetime.now(UTC), state=LoadState.WORKING
    )
    await renew_leases(watchdog_wms.context, pilot, Heartbeat(loaded=[tool]))
    await watchdog_wms.execute("UPDATE pilots SET placed_at = now() - interval '1 minute'")
    assert await place_pilots(watchdog_wms.context, period=PERIOD) == 0
    assert await list_ordered_pilots(watchdog_wms) == []
