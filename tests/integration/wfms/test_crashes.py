"""Invariant 7: crashes and second instances lose and duplicate nothing."""

import asyncio
from contextlib import suppress
from datetime import timedelta

from sluice.contracts.common.problems import NotAvailable
from sluice.contracts.common.states import ChainState, StepState, TaskState
from sluice.contracts.templates.conditions import Equals
from tests.integration.wfms.crashes import crash_at, crash_everywhere
from tests.integration.wfms.wfms_fixture import WfmsFixture
from tests.unit.wfms.chains.plans import DELETE_ALL, make_plan, make_step, make_three_steps


async def test_step_is_started_once_despite_a_crash_at_any_place(wfms: WfmsFixture) -> None:
    template = wfms.add_template(make_plan(make_step("only"), outputs=[("only", "out")]))
    place, through = 0, False
    while not through:
        place += 1
        chain = await wfms.create_chain(await wfms.create_input(f"d{place}"), template)
        through = await crash_at(wfms, place, wfms.start_steps)
        await wfms.start_steps()
        await wfms.deliver_messages()
        (task,) = [
            each_task for each_task in wfms.wms.tasks.values() if each_task.chain_uid == chain.uid
        ]
        assert wfms.wms.messages.count(task.uid) == 1, f"sent once, crash at place {place}"
        state = await wfms.get_chain(chain.uid)
        assert state.steps[0].state is StepState.IN_PROGRESS
        assert [dataset.uid for dataset in state.datasets] == [
            task.main_input.dat_in_uid,
            task.main_output.dat_out_uid,
            task.log_out_uid,
        ]
        watches = await wfms.fetch_rows(
            "wfms.watcher", "SELECT uid FROM watches WHERE chain_uid = $1", chain.uid
        )
        assert watches == [{"uid": task.uid}]
    assert place > 15


async def test_chain_finishes_despite_crashes_at_every_place_of_every_loop(
    wfms: WfmsFixture,
) -> None:
    """The result is the same as without crashes."""
    wfms.add_template(make_three_steps(retention=DELETE_ALL, match={"kind": Equals(value="raw")}))
    first = await wfms.create_input("run-7", meta={"kind": "raw"})
    loops = [
        wfms.match_datasets,
        wfms.start_chains,
        wfms.start_steps,
        wfms.stop_tasks,
        wfms.watch_uploads,
        wfms.follow_watches,
        wfms.hand_over_releases,
    ]
    crashes = 0
    for _ in range(5):
        for loop in loops:
            crashes += await crash_everywhere(wfms, loop)
            await wfms.deliver_messages()
            await wfms.end_running_tasks()
            await wfms.upload_all()
    (chain,) = (await wfms.chains.list_chains()).chains
    assert chain.state is ChainState.FINISHED
    assert len(wfms.wms.messages) == len(set(wfms.wms.messages)) == 3
    assert len(wfms.deletions) == len(set(wfms.deletions)) == 5
    assert wfms.deletions[-1] == first.uid
    assert (
        await wfms.fetch_rows(
            "wfms.chains",
            "SELECT 1 FROM datasets WHERE released_at IS NOT NULL AND handed_over_at IS NULL",
        )
        == []
    )
    assert crashes > 100


async def test_data_of_a_canceled_chain_is_deleted_once_despite_crashes(wfms: WfmsFixture) -> None:
    chain = await wfms.create_chain(
        await wfms.create_input("a"), wfms.add_template(make_three_steps())
    )
    await wfms.start_steps()
    await wfms.deliver_messages()
    await wfms.end_running_tasks()
    await crash_everywhere(wfms, wfms.follow_watches)
    await wfms.chains.cancel_chain(chain.uid)
    await crash_everywhere(wfms, wfms.hand_over_releases)
    await wfms.deliver_messages()
    (output,) = [
        dataset.uid
        for dataset in (await wfms.get_chain(chain.uid)).datasets
        if dataset.port == "out"
    ]
    assert wfms.deletions == [output]


async def test_repeated_report_of_a_finished_task_releases_its_data_once(wfms: WfmsFixture) -> None:
    """If an answer to ``POST /tasks/finished`` is lost, the next one has the same release again."""
    chain = await wfms.create_chain(
        await wfms.create_input("a"), wfms.add_template(make_three_steps())
    )
    for _ in range(2):
        await wfms.start_steps()
        await wfms.deliver_messages()
        await wfms.end_running_tasks()
        await wfms.follow_watches()
    released = [
        dataset.uid
        for dataset in (await wfms.get_chain(chain.uid)).datasets
        if dataset.step == "decode"
    ]
    before = await wfms.fetch_rows(
        "wfms.chains", "SELECT uid FROM datasets WHERE released_at IS NOT NULL"
    )
    assert sorted(row["uid"] for row in before) == sorted(released)
    await wfms.fetch_rows("wfms.watcher", "UPDATE watches SET reported = false RETURNING uid")
    await wfms.follow_watches()
    await wfms.hand_over_releases()
    await wfms.deliver_messages()
    assert sorted(wfms.deletions) == sorted(released)


async def test_concurrent_instances_of_all_loops_duplicate_nothing(wfms: WfmsFixture) -> None:
    wfms.add_template(make_three_steps(retention=DELETE_ALL, match={"kind": Equals(value="raw")}))
    for number in range(8):
        await wfms.create_input(f"run-{number}", meta={"kind": "raw"})
    loops = [
        wfms.match_datasets,
        wfms.start_chains,
        wfms.start_steps,
        wfms.watch_uploads,
        wfms.follow_watches,
        wfms.hand_over_releases,
    ]
    for _ in range(8):
        for loop in loops:
            await asyncio.gather(loop(), loop(), loop())
            await wfms.deliver_messages()
            await wfms.end_running_tasks()
            await wfms.upload_all()
    chains = (await wfms.chains.list_chains()).chains
    assert [chain.state for chain in chains] == [ChainState.FINISHED] * 8
    assert len(wfms.wms.messages) == len(set(wfms.wms.messages)) == 24
    assert len(wfms.deletions) == len(set(wfms.deletions)) == 40


async def test_outage_of_a_service_only_delays_the_chain(wfms: WfmsFixture) -> None:
    wfms.add_template(make_three_steps(retention=DELETE_ALL, match={"kind": Equals(value="raw")}))
    await wfms.create_input("run-7", meta={"kind": "raw"})
    for service in ("dms", "wms", "wfms.operator", "wfms.chains", "wfms.watcher", *[""] * 7):
        if service:
            wfms.http[service].is_down = True
        for loop in (
            wfms.match_datasets,
            wfms.start_chains,
            wfms.start_steps,
            wfms.watch_uploads,
            wfms.follow_watches,
        ):
            with suppress(NotAvailable):
                await loop()
        if service:
            wfms.http[service].is_down = False
        await wfms.deliver_messages()
        for uid, status in list(wfms.wms.statuses.items()):
            if not status.state.final:
                await wfms.end_task(uid, TaskState.FINISHED)
        await wfms.upload_all()
    await wfms.hand_over_releases()
    await wfms.deliver_messages()
    (chain,) = (await wfms.chains.list_chains()).chains
    assert chain.state is ChainState.FINISHED
    assert len(wfms.deletions) == len(set(wfms.deletions)) == 5


async def test_stopped_instance_returns_its_claims(wfms: WfmsFixture) -> None:
    """The claims would otherwise expire after an hour."""
    wfms.claim_duration = timedelta(hours=1)
    wfms.add_template(
        make_plan(make_step("only"), outputs=[("only", "out")], match={"kind": Equals(value="raw")})
    )
    for place in range(1, 13):
        await wfms.create_input(f"d{place}", meta={"kind": "raw"})
        await wfms.match_datasets()
        for loop in (wfms.start_chains, wfms.start_steps, wfms.follow_watches):
            wfms.fuse.at, wfms.fuse.passed_places, wfms.fuse.is_canceling = place, 0, True
            with suppress(asyncio.CancelledError):
                await loop()
            wfms.fuse.at = None
            await loop()
            await wfms.deliver_messages()
            await wfms.end_running_tasks()
        (chain,) = (await wfms.chains.list_chains(limit=1)).chains
        assert chain.dataset_name == f"d{place}"
        assert chain.state is ChainState.UPLOADING, f"stopped at place {place}"
