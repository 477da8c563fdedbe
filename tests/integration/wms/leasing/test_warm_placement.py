"""A policy decides for which warm workers a pilot gets jobs."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from sluice.contracts.jobs.needs import Warm
from sluice.contracts.jobs.tasks import Task
from sluice.contracts.jobs.warm_workers import WarmWorkerState
from sluice.contracts.pilots.pilots import Heartbeat, LeaseRequest
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.db.pilots.pilot_times import WorkKind
from wms.domain.placement.policy import Kind, Move, WarmSlot
from wms.usecases.leasing.lease_jobs import lease_jobs
from wms.usecases.leasing.renew_leases import renew_leases
from wms.usecases.reports.attempt_end_buffer import AttemptEnd
from wms.usecases.times.learn_times import learn_times
from wms.usecases.ttl_cache import TtlCache

SINCE = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class FixedKindPolicy:
    """A policy that wants a certain kind and records what it is told."""

    kind_name: str
    every: float | None = None
    weighs_priority: bool = False
    decisions: list[dict[str, Kind]] = field(default_factory=list)

    def next_kind(self, kinds: Sequence[Kind], slot: WarmSlot, now: float) -> int | None:
        self.decisions.append({kind.name: kind for kind in kinds})
        return [kind.name for kind in kinds].index(self.kind_name)

    def moves(self, kinds: Sequence[Kind], slots: Sequence[WarmSlot], now: float) -> list[Move]:
        return []


async def two_stages(wms: WmsFixture, *, layout: int, read: int) -> tuple[Task, Task]:
    """Add two tasks of a chain, of which layout takes 2 s and reading 10 s."""
    first = make_task(step="layout", warm=Warm(kind="layout"))
    second = make_task(step="read", warm=Warm(kind="read"), depth=1)
    await wms.add_task(first, jobs=layout)
    await wms.add_task(second, jobs=read)
    pilot = await wms.add_pilot(name="warm")
    times = [("layout", 2.0), ("read", 10.0)]
    wms.context.ends.add(AttemptEnd(WorkKind("t", step), pilot, took) for step, took in times)
    await learn_times(wms.context)
    tools = [
        WarmWorkerState(kind=kind, step=kind, since=SINCE, loading=5.0)
        for kind in ("layout", "read")
    ]
    await renew_leases(wms.context, pilot, Heartbeat(loaded=tools))
    return first, second


async def leased_by(wms: WmsFixture, *loaded: str) -> Sequence[str]:
    """Return the steps of the jobs that a new pilot gets."""
    wms.context = replace(wms.context, kinds=TtlCache())
    pilot = await wms.add_pilot()
    request = LeaseRequest(jobs=1, loaded=list(loaded))
    jobs = (await lease_jobs(wms.context, pilot, request)).jobs
    return [wms.tasks[job.task_uid].step for job in jobs]


async def test_pilot_keeps_its_warm_worker_until_a_later_step_is_worth_a_load(
    wms: WmsFixture,
) -> None:
    await two_stages(wms, layout=9, read=2)
    assert await leased_by(wms, "layout") == ["layout"]
    await wms.add_task(make_task(step="read", warm=Warm(kind="read"), depth=1), jobs=90)
    assert await leased_by(wms, "layout") == ["read"]
    assert await leased_by(wms, "read") == ["read"]


async def test_pilot_that_loads_a_warm_worker_counts_for_the_next_decision(wms: WmsFixture) -> None:
    """From its first job on, it counts for all instances."""
    await two_stages(wms, layout=9, read=92)
    assert [await leased_by(wms, "layout") for _ in range(2)] == [["read"], ["read"]]
    policy = FixedKindPolicy("read")
    wms.context = replace(wms.context, policy=policy, kinds=TtlCache())
    pilot = await wms.add_pilot()
    for _ in range(3):
        await lease_jobs(wms.context, pilot, LeaseRequest(jobs=1, loaded=["layout"]))
    # One pilot reported the warm worker, and two have jobs for it.
    assert [kinds["read"].assigned_slots for kinds in policy.decisions] == [3, 4, 5]


async def test_policy_decides_which_warm_worker_is_used(wms: WmsFixture) -> None:
    await two_stages(wms, layout=9, read=90)
    for kind in ("layout", "read"):
        wms.context = replace(wms.context, policy=FixedKindPolicy(kind))
        assert await leased_by(wms, "layout") == [kind]


async def test_policy_is_told_ready_jobs_run_times_and_loading_times(wms: WmsFixture) -> None:
    await two_stages(wms, layout=9, read=2)
    policy = FixedKindPolicy("read")
    wms.context = replace(wms.context, policy=policy)
    await leased_by(wms)
    [kinds] = policy.decisions
    assert (kinds["layout"].ready, kinds["read"].ready) == (9, 2)
    assert (round(kinds["layout"].mean), round(kinds["layout"].downstream_seconds)) == (2, 10)
    assert (round(kinds["read"].mean), kinds["read"].downstream_seconds) == (10, 0.0)
    assert (kinds["read"].loading, kinds["read"].assigned_slots) == (5.0, 1)
