"""A policy decides for which warm workers a pilot gets jobs."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sluice.contracts.jobs.needs import Warm
from sluice.contracts.pilots.leases import LeaseRequest
from tests.integration.wms.leasing.warm_stages import add_two_stages
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.domain.placement.policy import Kind, Move, WarmSlot
from wms.usecases.leasing.lease_jobs import lease_jobs
from wms.usecases.ttl_cache import TtlCache


@dataclass
class FixedKindPolicy:
    """A policy that selects a certain kind and records its arguments."""

    kind_name: str
    every: float | None = None
    weighs_priority: bool = False
    decisions: list[dict[str, Kind]] = field(default_factory=list)

    def next_kind(self, kinds: Sequence[Kind], slot: WarmSlot, now: float) -> int | None:
        self.decisions.append({kind.name: kind for kind in kinds})
        return [kind.name for kind in kinds].index(self.kind_name)

    def moves(self, kinds: Sequence[Kind], slots: Sequence[WarmSlot], now: float) -> list[Move]:
        return []


async def lease_steps(wms: WmsFixture, *loaded: str) -> Sequence[str]:
    """Return the steps of the jobs that a new pilot gets."""
    wms.context = replace(wms.context, kinds=TtlCache())
    pilot = await wms.add_pilot()
    request = LeaseRequest(jobs=1, loaded=list(loaded))
    jobs = (await lease_jobs(wms.context, pilot, request)).jobs
    return [wms.tasks[job.task_uid].step for job in jobs]


async def test_pilot_keeps_its_warm_worker_until_a_later_step_is_worth_a_load(
    wms: WmsFixture,
) -> None:
    await add_two_stages(wms, layout=9, read=2)
    assert await lease_steps(wms, "layout") == ["layout"]
    await wms.add_task(make_task(step="read", warm=Warm(kind="read"), depth=1), jobs=90)
    assert await lease_steps(wms, "layout") == ["read"]
    assert await lease_steps(wms, "read") == ["read"]


async def test_pilot_that_loads_a_warm_worker_counts_for_the_next_decision(wms: WmsFixture) -> None:
    """From its first job on, it counts for all instances."""
    await add_two_stages(wms, layout=9, read=92)
    assert [await lease_steps(wms, "layout") for _ in range(2)] == [["read"], ["read"]]
    policy = FixedKindPolicy("read")
    wms.context = replace(wms.context, policy=policy, kinds=TtlCache())
    pilot = await wms.add_pilot()
    for _ in range(3):
        await lease_jobs(wms.context, pilot, LeaseRequest(jobs=1, loaded=["layout"]))
    # One pilot reported the warm worker, and two have jobs for it.
    assert [kinds["read"].assigned_slots for kinds in policy.decisions] == [3, 4, 5]


async def test_policy_decides_which_warm_worker_is_used(wms: WmsFixture) -> None:
    await add_two_stages(wms, layout=9, read=90)
    for kind in ("layout", "read"):
        wms.context = replace(wms.context, policy=FixedKindPolicy(kind))
        assert await lease_steps(wms, "layout") == [kind]


async def test_policy_is_told_ready_jobs_run_times_and_loading_times(wms: WmsFixture) -> None:
    await add_two_stages(wms, layout=9, read=2)
    policy = FixedKindPolicy("read")
    wms.context = replace(wms.context, policy=policy)
    await lease_steps(wms)
    [kinds] = policy.decisions
    assert (kinds["layout"].ready, kinds["read"].ready) == (9, 2)
    assert (round(kinds["layout"].mean), round(kinds["layout"].downstream_seconds)) == (2, 10)
    assert (round(kinds["read"].mean), kinds["read"].downstream_seconds) == (10, 0.0)
    assert (kinds["read"].loading, kinds["read"].assigned_slots) == (5.0, 1)
