"""The intake decides on every closed data set once, and creates its chain once."""

import asyncio
from uuid import uuid4

import pytest

from sluice.clients.intake import IntakeClient
from sluice.contracts.common.problems import Conflict, NotAvailable, NotFound
from sluice.contracts.templates.plan import Equals, Glob, Parameter, Plan
from tests.integration.wfms.faults import Crash
from tests.integration.wfms.world import World
from tests.unit.wfms.chains.plans import plan, step

RAW = {"kind": Equals(value="raw")}


def one_step(**more: object) -> Plan:
    return plan(step("only"), outputs=[("only", "out")], **more)


async def names_in_chains(world: World) -> list[str]:
    return sorted(
        chain.dataset_name for chain in (await world.chains.list_chains(limit=500)).chains
    )


async def test_no_data_set_is_missed_when_many_close_concurrently(world: World) -> None:
    """The intake reads small pages; some data sets have equal time stamps or are committed late."""
    world.template(one_step(match=RAW))
    names = [f"d{number:02}" for number in range(30)]
    closing = asyncio.gather(*(world.input(name, meta={"kind": "raw"}) for name in names))
    while not closing.done():
        await world.take_in(page=3)
        await asyncio.sleep(0)
    while await world.take_in(page=3):
        pass
    while await world.start_chains():
        pass
    assert await names_in_chains(world) == names
    assert await world.rows("wfms.intake", "SELECT 1 FROM handovers") == []


async def test_data_sets_with_equal_time_stamps_are_all_matched(world: World) -> None:
    world.template(one_step(match=RAW))
    await world.input("a", meta={"kind": "raw"})
    await world.take_in()
    await world.input("b", meta={"kind": "raw"})
    async with world.dms_database.connection() as connection:
        await connection.execute(
            "UPDATE datasets SET closed_at = (SELECT min(closed_at) FROM datasets)"
        )
    await world.take_in()
    await world.start_chains()
    assert await names_in_chains(world) == ["a", "b"]


async def test_crash_at_any_place_neither_loses_nor_duplicates_chains(world: World) -> None:
    world.template(one_step(match=RAW))
    names = [f"d{number}" for number in range(4)]
    for name in names:
        await world.input(name, meta={"kind": "raw"})
    place = 0
    while await names_in_chains(world) != names:
        place += 1
        for crank in (world.take_in, world.start_chains):
            world.fuse.at, world.fuse.passed = place, 0
            try:
                await crank()
            except Crash:
                pass
            finally:
                world.fuse.at = None
    assert place > 4
    await world.start_chains()
    assert len((await world.chains.list_chains()).chains) == 4


async def test_concurrent_intakes_make_one_chain_although_the_template_changes(
    world: World,
) -> None:
    """The decision is stored with the cursor and is not made a second time (invariant 1)."""
    template = world.template(one_step(match=RAW))
    await world.input("a", meta={"kind": "raw"})
    place = 0
    while not await world.rows("wfms.intake", "SELECT 1 FROM handovers"):
        place += 1
        world.fuse.at, world.fuse.passed = place, 0
        try:
            await world.take_in()
        except Crash:
            pass
        finally:
            world.fuse.at = None
    world.templates[:] = [template.model_copy(update={"version": 2})]
    await asyncio.gather(world.take_in(), world.take_in())
    await asyncio.gather(world.start_chains(), world.start_chains())
    (chain,) = (await world.chains.list_chains()).chains
    assert chain.template_version == 1


async def test_unmatched_data_set_has_a_reason_and_can_be_matched_again(
    world: World,
) -> None:
    intake = IntakeClient(world.client("wfms.intake"))
    dataset = await world.input("a", meta={"kind": "calibration"})
    world.template(one_step(match=RAW), name="raw-only")
    await world.take_in()
    (unmatched,) = (await intake.list_unmatched()).datasets
    assert unmatched.dataset_name == "a"
    assert (
        unmatched.reason
        == "no template matches: raw-only wants kind = 'raw', which is 'calibration'"
    )
    assert (await intake.rematch(dataset.uid)).template is None
    world.template(one_step(match={"name": Glob(pattern="a*")}), name="any")
    assert (await intake.rematch(dataset.uid)).template == "any"
    await world.start_chains()
    assert await names_in_chains(world) == ["a"]
    assert (await intake.list_unmatched()).datasets == []
    with pytest.raises(NotFound, match="not among the unmatched"):
        await intake.rematch(dataset.uid)


async def test_rematch_of_all_unmatched_data_sets_forgets_deleted_ones(
    world: World,
) -> None:
    intake = IntakeClient(world.client("wfms.intake"))
    names = [f"d{number:02}" for number in range(40)]
    sets = [
        await world.input(name, meta={"kind": "odd" if number % 4 else "other"})
        for number, name in enumerate(names)
    ]
    await world.take_in()
    before = await intake.list_unmatched(limit=10)
    assert (len(before.datasets), before.total) == (10, 40)
    kinds = {dataset.uid: dataset.meta for dataset in sets}
    assert all(
        dataset.dataset is not None and dataset.dataset.meta == kinds[dataset.dataset_uid]
        for dataset in before.datasets
    )
    await world.dms.delete_dataset(sets[0].uid, force=True)
    world.template(one_step(match={"kind": Equals(value="odd")}), name="odd-ones")
    assert (await intake.list_unmatched()).total == 40, "a new template alone changes nothing"
    result = await intake.rematch_all()
    assert (result.matched, result.gone, result.left) == (30, 1, 9)
    again = await intake.rematch_all()
    assert (again.matched, again.gone, again.left) == (0, 0, 9)
    left = (await intake.list_unmatched()).datasets
    since = {dataset.dataset_uid: dataset.since for dataset in before.datasets}
    assert all(
        unmatched.since == since.get(unmatched.dataset_uid, unmatched.since) for unmatched in left
    ), "the time of the first attempt is kept"
    while await world.start_chains():
        pass
    assert await names_in_chains(world) == [name for number, name in enumerate(names) if number % 4]


async def test_unmatched_data_set_is_dismissed_or_found_deleted(world: World) -> None:
    intake = IntakeClient(world.client("wfms.intake"))
    seen_to, deleted = await world.input("a"), await world.input("b")
    await world.take_in()
    await intake.dismiss_unmatched(seen_to.uid)
    with pytest.raises(NotFound):
        await intake.dismiss_unmatched(seen_to.uid)
    await world.dms.delete_dataset(deleted.uid, force=True)
    with pytest.raises(Conflict, match="was deleted"):
        await intake.rematch(deleted.uid)
    assert (await intake.list_unmatched()).datasets == []


async def test_dismiss_all_keeps_data_sets_that_came_later(world: World) -> None:
    intake = IntakeClient(world.client("wfms.intake"))
    for name in ("a", "b"):
        await world.input(name)
    await world.take_in()
    newest = (await intake.list_unmatched()).datasets[0].since
    await world.input("late")
    await world.take_in()
    assert (await intake.dismiss_all_unmatched(until=newest)).dismissed == 2
    assert [one.dataset_name for one in (await intake.list_unmatched()).datasets] == ["late"]


async def test_templates_with_equal_priority_are_reported_until_one_changes(world: World) -> None:
    intake = IntakeClient(world.client("wfms.intake"))
    first, second = (
        world.template(one_step(match=RAW, priority=3), name=name) for name in ("aa", "bb")
    )
    world.template(one_step(match=RAW), name="cc")
    for name in ("d1", "d2"):
        await world.input(name, meta={"kind": "raw"})
    await world.take_in()
    (tie,) = (await intake.list_ties()).ties
    assert (tie.template_id, tie.other_id, tie.priority) == (first.id, second.id, 3)
    assert (tie.template, tie.other, tie.datasets, tie.dataset_name) == ("aa", "bb", 2, "d2")
    await world.start_chains()
    assert {chain.template for chain in (await world.chains.list_chains()).chains} == {"aa"}
    world.templates[1] = second.model_copy(
        update={"version": 2, "id": uuid4(), "plan": one_step(match=RAW, priority=4)}
    )
    await world.input("d3", meta={"kind": "raw"})
    await world.take_in()
    assert (await intake.list_ties()).ties == []


async def test_data_set_refused_by_the_chain_service_is_unmatched_with_findings(
    world: World,
) -> None:
    parameters = {"cut": Parameter(type="int", required=True)}
    world.template(one_step(match=RAW, parameters=parameters, bind={"cut": "threshold"}))
    await world.input("bad", meta={"kind": "raw", "threshold": "high"})
    await world.input("good", meta={"kind": "raw", "threshold": 3})
    await world.input("missing", meta={"kind": "raw"})
    await world.take_in()
    await world.start_chains()
    assert await names_in_chains(world) == ["good"]
    intake = IntakeClient(world.client("wfms.intake"))
    unmatched = {
        dataset.dataset_name: dataset for dataset in (await intake.list_unmatched()).datasets
    }
    assert unmatched["bad"].findings[0].message == "parameter 'cut' must be int, not 'high'"
    assert "cut (from metadata 'threshold')" in unmatched["missing"].reason
    (chain,) = (await world.chains.list_chains()).chains
    assert chain.params == {"cut": 3}


async def test_intake_ignores_on_demand_data_sets_and_keeps_its_cursor_in_outages(
    world: World,
) -> None:
    world.template(one_step(match=RAW))
    await world.input("asked-for", meta={"kind": "raw"}, on_demand=True)
    await world.input("a", meta={"kind": "raw"})
    for service in ("dms", "wfms.operator"):
        world.http[service].down = True
        with pytest.raises(NotAvailable):
            await world.take_in()
        world.http[service].down = False
        assert await world.rows("wfms.intake", "SELECT value FROM cursor") == [{"value": None}]
    await world.take_in()
    world.http["wfms.chains"].down = True
    await world.start_chains()
    (waiting,) = await world.rows("wfms.intake", "SELECT attempts, reason FROM handovers")
    assert waiting["attempts"] == 1
    assert "cannot be reached" in waiting["reason"]
    world.http["wfms.chains"].down = False
    await world.start_chains()
    assert await names_in_chains(world) == ["a"]
