"""Invariant 7: crashes and second instances lose and duplicate nothing."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta

from sluice.contracts.common.problems import NotAvailable
from sluice.contracts.common.states import ChainState, StepState, TaskState
from sluice.contracts.templates.plan import Equals
from tests.integration.wfms.faults import Crash
from tests.integration.wfms.world import World
from tests.unit.wfms.chains.plans import DELETE_ALL, plan, step, three_steps


async def crash_everywhere(world: World, crank: Callable[[], Awaitable[object]]) -> int:
    """Repeat a function with a crash at its first place, its second, and so on, until it completes.

    Return the number of crashes.
    """
    crashes = 0
    while True:
        world.fuse.at, world.fuse.passed = crashes + 1, 0
        try:
            await crank()
            return crashes
        except Crash:
            crashes += 1
        finally:
            world.fuse.at = None


async def crash_at(world: World, place: int, crank: Callable[[], Awaitable[object]]) -> bool:
    """Run a function with a crash at one place; return True if it completes before that place."""
    world.fuse.at, world.fuse.passed = place, 0
    try:
        await crank()
    except Crash:
        return False
    finally:
        world.fuse.at = None
    return True


async def test_step_is_started_once_despite_a_crash_at_any_place(world: World) -> None:
    template = world.template(plan(step("only"), outputs=[("only", "out")]))
    place, through = 0, False
    while not through:
        place += 1
        chain = await world.new_chain(await world.input(f"d{place}"), template)
        through = await crash_at(world, place, world.start_steps)
        await world.start_steps()
        await world.deliver()
        (task,) = [
            each_task for each_task in world.wms.tasks.values() if each_task.chain_uid == chain.uid
        ]
        assert world.wms.messages.count(task.uid) == 1, f"sent once, crash at place {place}"
        state = await world.chain(chain.uid)
        assert state.steps[0].state is StepState.IN_PROGRESS
        assert [dataset.uid for dataset in state.datasets] == [
            task.main_input.dat_in_uid,
            task.main_output.dat_out_uid,
            task.log_out_uid,
        ]
        watches = await world.rows(
            "wfms.watcher", "SELECT uid FROM watches WHERE chain_uid = $1", chain.uid
        )
        assert watches == [{"uid": task.uid}]
    assert place > 15


async def test_chain_finishes_despite_crashes_at_every_place_of_every_loop(world: World) -> None:
    """The result is the same as without crashes."""
    world.template(three_steps(retention=DELETE_ALL, match={"kind": Equals(value="raw")}))
    first = await world.input("run-7", meta={"kind": "raw"})
    cranks = [
        world.take_in,
        world.start_chains,
        world.start_steps,
        world.stop_tasks,
        world.watch_uploads,
        world.follow,
        world.hand_over_releases,
    ]
    crashes = 0
    for _ in range(5):
        for crank in cranks:
            crashes += await crash_everywhere(world, crank)
            await world.deliver()
            await world.end_running_tasks()
            await world.upload_all()
    (chain,) = (await world.chains.list_chains()).chains
    assert chain.state is ChainState.FINISHED
    assert len(world.wms.messages) == len(set(world.wms.messages)) == 3
    assert len(world.deletions) == len(set(world.deletions)) == 5
    assert world.deletions[-1] == first.uid
    assert (
        await world.rows(
            "wfms.chains",
            "SELECT 1 FROM datasets WHERE released_at IS NOT NULL AND handed_over_at IS NULL",
        )
        == []
    )
    assert crashes > 100


async def test_data_of_a_canceled_chain_is_deleted_once_despite_crashes(world: World) -> None:
    chain = await world.new_chain(await world.input("a"), world.template(three_steps()))
    await world.start_steps()
    await world.deliver()
    await world.end_running_tasks()
    await crash_everywhere(world, world.follow)
    await world.chains.cancel_chain(chain.uid)
    await crash_everywhere(world, world.hand_over_releases)
    await world.deliver()
    (output,) = [
        dataset.uid for dataset in (await world.chain(chain.uid)).datasets if dataset.port == "out"
    ]
    assert world.deletions == [output]


async def test_repeated_report_of_a_finished_task_releases_its_data_once(world: World) -> None:
    """If an answer to ``POST /tasks/finished`` is lost, the next one has the same release again."""
    chain = await world.new_chain(await world.input("a"), world.template(three_steps()))
    for _ in range(2):
        await world.start_steps()
        await world.deliver()
        await world.end_running_tasks()
        await world.follow()
    released = [
        dataset.uid
        for dataset in (await world.chain(chain.uid)).datasets
        if dataset.step == "decode"
    ]
    before = await world.rows(
        "wfms.chains", "SELECT uid FROM datasets WHERE released_at IS NOT NULL"
    )
    assert sorted(row["uid"] for row in before) == sorted(released)
    await world.rows("wfms.watcher", "UPDATE watches SET reported = false RETURNING uid")
    await world.follow()
    await world.hand_over_releases()
    await world.deliver()
    assert sorted(world.deletions) == sorted(released)


async def test_concurrent_instances_of_all_loops_duplicate_nothing(world: World) -> None:
    world.template(three_steps(retention=DELETE_ALL, match={"kind": Equals(value="raw")}))
    for number in range(8):
        await world.input(f"run-{number}", meta={"kind": "raw"})
    cranks = [
        world.take_in,
        world.start_chains,
        world.start_steps,
        world.watch_uploads,
        world.follow,
        world.hand_over_releases,
    ]
    for _ in range(8):
        for crank in cranks:
            await asyncio.gather(crank(), crank(), crank())
            await world.deliver()
            await world.end_running_tasks()
            await world.upload_all()
    chains = (await world.chains.list_chains()).chains
    assert [chain.state for chain in chains] == [ChainState.FINISHED] * 8
    assert len(world.wms.messages) == len(set(world.wms.messages)) == 24
    assert len(world.deletions) == len(set(world.deletions)) == 40


async def test_outage_of_a_service_only_delays_the_chain(world: World) -> None:
    world.template(three_steps(retention=DELETE_ALL, match={"kind": Equals(value="raw")}))
    await world.input("run-7", meta={"kind": "raw"})
    for service in ("dms", "wms", "wfms.operator", "wfms.chains", "wfms.watcher", *[""] * 7):
        if service:
            world.http[service].down = True
        for crank in (
            world.take_in,
            world.start_chains,
            world.start_steps,
            world.watch_uploads,
            world.follow,
        ):
            with suppress(NotAvailable):
                await crank()
        if service:
            world.http[service].down = False
        await world.deliver()
        for uid, status in list(world.wms.statuses.items()):
            if not status.state.final:
                await world.end_task(uid, TaskState.FINISHED)
        await world.upload_all()
    await world.hand_over_releases()
    await world.deliver()
    (chain,) = (await world.chains.list_chains()).chains
    assert chain.state is ChainState.FINISHED
    assert len(world.deletions) == len(set(world.deletions)) == 5


async def test_stopped_instance_returns_its_claims(world: World) -> None:
    """The claims would otherwise expire after an hour."""
    world.claim_duration = timedelta(hours=1)
    world.template(
        plan(step("only"), outputs=[("only", "out")], match={"kind": Equals(value="raw")})
    )
    for place in range(1, 13):
        await world.input(f"d{place}", meta={"kind": "raw"})
        await world.take_in()
        for crank in (world.start_chains, world.start_steps, world.follow):
            world.fuse.at, world.fuse.passed, world.fuse.stops = place, 0, True
            with suppress(asyncio.CancelledError):
                await crank()
            world.fuse.at = None
            await crank()
            await world.deliver()
            await world.end_running_tasks()
        (chain,) = (await world.chains.list_chains(limit=1)).chains
        assert chain.dataset_name == f"d{place}"
        assert chain.state is ChainState.UPLOADING, f"stopped at place {place}"
