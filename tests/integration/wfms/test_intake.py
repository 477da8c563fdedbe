"""The intake decides on every closed data set once, and creates its chain once."""

import asyncio
from uuid import uuid4

import pytest

from sluice.clients.intake import IntakeClient
from sluice.contracts.common.problems import Conflict, NotAvailable, NotFound
from sluice.contracts.templates.conditions import Equals, Glob
from sluice.contracts.templates.plan import Parameter, Plan
from tests.integration.wfms.faults import Crash
from tests.integration.wfms.wfms_fixture import WfmsFixture
from tests.unit.wfms.chains.plans import make_plan, make_step

RAW = {"kind": Equals(value="raw")}


def make_one_step_plan(**more: object) -> Plan:
    return make_plan(make_step("only"), outputs=[("only", "out")], **more)


async def list_processed_names(wfms: WfmsFixture) -> list[str]:
    return sorted(chain.dataset_name for chain in (await wfms.chains.list_chains(limit=500)).chains)


async def test_no_data_set_is_missed_when_many_close_concurrently(wfms: WfmsFixture) -> None:
    """The intake reads small pages; some data sets have equal time stamps or are committed late."""
    wfms.add_template(make_one_step_plan(match=RAW))
    names = [f"d{number:02}" for number in range(30)]
    closing = asyncio.gather(*(wfms.create_input(name, meta={"kind": "raw"}) for name in names))
    while not closing.done():
        await wfms.match_datasets(page=3)
        await asyncio.sleep(0)
    while await wfms.match_datasets(page=3):
        pass
    while await wfms.start_chains():
        pass
    assert await list_processed_names(wfms) == names
    assert await wfms.fetch_rows("wfms.intake", "SELECT 1 FROM handovers") == []


async def test_data_sets_with_equal_time_stamps_are_all_matched(wfms: WfmsFixture) -> None:
    wfms.add_template(make_one_step_plan(match=RAW))
    await wfms.create_input("a", meta={"kind": "raw"})
    await wfms.match_datasets()
    await wfms.create_input("b", meta={"kind": "raw"})
    async with wfms.dms_database.connection() as connection:
        await connection.execute(
            "UPDATE datasets SET closed_at = (SELECT min(closed_at) FROM datasets)"
        )
    await wfms.match_datasets()
    await wfms.start_chains()
    assert await list_processed_names(wfms) == ["a", "b"]


async def test_crash_at_any_place_neither_loses_nor_duplicates_chains(wfms: WfmsFixture) -> None:
    wfms.add_template(make_one_step_plan(match=RAW))
    names = [f"d{number}" for number in range(4)]
    for name in names:
        await wfms.create_input(name, meta={"kind": "raw"})
    place = 0
    while await list_processed_names(wfms) != names:
        place += 1
        for loop in (wfms.match_datasets, wfms.start_chains):
            wfms.fuse.at, wfms.fuse.passed_places = place, 0
            try:
                await loop()
            except Crash:
                pass
            finally:
                wfms.fuse.at = None
    assert place > 4
    await wfms.start_chains()
    assert len((await wfms.chains.list_chains()).chains) == 4


async def test_concurrent_intakes_make_one_chain_although_the_template_changes(
    wfms: WfmsFixture,
) -> None:
    """The decision is stored with the cursor and is not made a second time (invariant 1)."""
    template = wfms.add_template(make_one_step_plan(match=RAW))
    await wfms.create_input("a", meta={"kind": "raw"})
    place = 0
    while not await wfms.fetch_rows("wfms.intake", "SELECT 1 FROM handovers"):
        place += 1
        wfms.fuse.at, wfms.fuse.passed_places = place, 0
        try:
            await wfms.match_datasets()
        except Crash:
            pass
        finally:
            wfms.fuse.at = None
    wfms.templates[:] = [template.model_copy(update={"version": 2})]
    await asyncio.gather(wfms.match_datasets(), wfms.match_datasets())
    await asyncio.gather(wfms.start_chains(), wfms.start_chains())
    (chain,) = (await wfms.chains.list_chains()).chains
    assert chain.template_version == 1


async def test_unmatched_data_set_has_a_reason_and_can_be_matched_again(
    wfms: WfmsFixture,
) -> None:
    intake = IntakeClient(wfms.client("wfms.intake"))
    dataset = await wfms.create_input("a", meta={"kind": "calibration"})
    wfms.add_template(make_one_step_plan(match=RAW), name="raw-only")
    await wfms.match_datasets()
    (unmatched,) = (await intake.list_unmatched()).datasets
    assert unmatched.dataset_name == "a"
    assert (
        unmatched.reason
        == "no template matches: raw-only wants kind = 'raw', which is 'calibration'"
    )
    assert (await intake.rematch(dataset_uid=dataset.uid)).template is None
    wfms.add_template(make_one_step_plan(match={"name": Glob(pattern="a*")}), name="any")
    assert (await intake.rematch(dataset_uid=dataset.uid)).template == "any"
    await wfms.start_chains()
    assert await list_processed_names(wfms) == ["a"]
    assert (await intake.list_unmatched()).datasets == []
    with pytest.raises(NotFound, match="not among the unmatched"):
        await intake.rematch(dataset_uid=dataset.uid)


async def test_rematch_of_all_unmatched_data_sets_forgets_deleted_ones(
    wfms: WfmsFixture,
) -> None:
    intake = IntakeClient(wfms.client("wfms.intake"))
    names = [f"d{number:02}" for number in range(40)]
    sets = [
        await wfms.create_input(name, meta={"kind": "odd" if number % 4 else "other"})
        for number, name in enumerate(names)
    ]
    await wfms.match_datasets()
    before = await intake.list_unmatched(limit=10)
    assert (len(before.datasets), before.total) == (10, 40)
    kinds = {dataset.uid: dataset.meta for dataset in sets}
    assert all(
        dataset.dataset is not None and dataset.dataset.meta == kinds[dataset.dataset_uid]
        for dataset in before.datasets
    )
    await wfms.dms.delete_dataset(sets[0].uid, force=True)
    wfms.add_template(make_one_step_plan(match={"kind": Equals(value="odd")}), name="odd-ones")
    assert (await intake.list_unmatched()).total == 40, "a new template alone changes nothing"
    result = await intake.rematch_all()
    assert (result.matched, result.gone, result.left) == (30, 1, 9)
    second_result = await intake.rematch_all()
    assert (second_result.matched, second_result.gone, second_result.left) == (0, 0, 9)
    remaining_datasets = (await intake.list_unmatched()).datasets
    since = {dataset.dataset_uid: dataset.since for dataset in before.datasets}
    assert all(
        unmatched.since == since.get(unmatched.dataset_uid, unmatched.since)
        for unmatched in remaining_datasets
    ), "the time of the first attempt is kept"
    while await wfms.start_chains():
        pass
    assert await list_processed_names(wfms) == [
        name for number, name in enumerate(names) if number % 4
    ]


async def test_unmatched_data_set_is_dismissed_or_found_deleted(wfms: WfmsFixture) -> None:
    intake = IntakeClient(wfms.client("wfms.intake"))
    dismissed, deleted = await wfms.create_input("a"), await wfms.create_input("b")
    await wfms.match_datasets()
    await intake.dismiss_unmatched(dismissed.uid)
    with pytest.raises(NotFound):
        await intake.dismiss_unmatched(dismissed.uid)
    await wfms.dms.delete_dataset(deleted.uid, force=True)
    with pytest.raises(Conflict, match="was deleted"):
        await intake.rematch(dataset_uid=deleted.uid)
    assert (await intake.list_unmatched()).datasets == []


async def test_dismiss_all_keeps_data_sets_that_came_later(wfms: WfmsFixture) -> None:
    intake = IntakeClient(wfms.client("wfms.intake"))
    for name in ("a", "b"):
        await wfms.create_input(name)
    await wfms.match_datasets()
    newest = (await intake.list_unmatched()).datasets[0].since
    await wfms.create_input("late")
    await wfms.match_datasets()
    assert (await intake.dismiss_all_unmatched(until=newest)).dismissed == 2
    assert [one.dataset_name for one in (await intake.list_unmatched()).datasets] == ["late"]


async def test_templates_with_equal_priority_are_reported_until_one_changes(
    wfms: WfmsFixture,
) -> None:
    intake = IntakeClient(wfms.client("wfms.intake"))
    first, second = (
        wfms.add_template(make_one_step_plan(match=RAW, priority=3), name=name)
        for name in ("aa", "bb")
    )
    wfms.add_template(make_one_step_plan(match=RAW), name="cc")
    for name in ("d1", "d2"):
        await wfms.create_input(name, meta={"kind": "raw"})
    await wfms.match_datasets()
    (problem,) = (await intake.list_ties()).ties
    assert (problem.template_id, problem.other_id, problem.priority) == (first.id, second.id, 3)
    assert (problem.template, problem.other, problem.datasets, problem.dataset_name) == (
        "aa",
        "bb",
        2,
        "d2",
    )
    await wfms.start_chains()
    assert {chain.template for chain in (await wfms.chains.list_chains()).chains} == {"aa"}
    wfms.templates[1] = second.model_copy(
        update={"version": 2, "id": uuid4(), "plan": make_one_step_plan(match=RAW, priority=4)}
    )
    await wfms.create_input("d3", meta={"kind": "raw"})
    await wfms.match_datasets()
    assert (await intake.list_ties()).ties == []


async def test_data_set_refused_by_the_chain_service_is_unmatched_with_findings(
    wfms: WfmsFixture,
) -> None:
    parameters = {"cut": Parameter(type="int", required=True)}
    wfms.add_template(
        make_one_step_plan(match=RAW, parameters=parameters, bind={"cut": "threshold"})
    )
    await wfms.create_input("bad", meta={"kind": "raw", "threshold": "high"})
    await wfms.create_input("good", meta={"kind": "raw", "threshold": 3})
    await wfms.create_input("missing", meta={"kind": "raw"})
    await wfms.match_datasets()
    await wfms.start_chains()
    assert await list_processed_names(wfms) == ["good"]
    intake = IntakeClient(wfms.client("wfms.intake"))
    unmatched = {
        dataset.dataset_name: dataset for dataset in (await intake.list_unmatched()).datasets
    }
    assert unmatched["bad"].findings[0].message == "parameter 'cut' must be int, not 'high'"
    assert "cut (from metadata 'threshold')" in unmatched["missing"].reason
    (chain,) = (await wfms.chains.list_chains()).chains
    assert chain.params == {"cut": 3}


async def test_intake_ignores_on_demand_data_sets_and_keeps_its_cursor_in_outages(
    wfms: WfmsFixture,
) -> None:
    wfms.add_template(make_one_step_plan(match=RAW))
    await wfms.create_input("asked-for", meta={"kind": "raw"}, on_demand=True)
    await wfms.create_input("a", meta={"kind": "raw"})
    for service in ("dms", "wfms.operator"):
        wfms.http[service].is_down = True
        with pytest.raises(NotAvailable):
            await wfms.match_datasets()
        wfms.http[service].is_down = False
        assert await wfms.fetch_rows("wfms.intake", "SELECT value FROM cursor") == [{"value": None}]
    await wfms.match_datasets()
    wfms.http["wfms.chains"].is_down = True
    await wfms.start_chains()
    (waiting,) = await wfms.fetch_rows("wfms.intake", "SELECT attempts, reason FROM handovers")
    assert waiting["attempts"] == 1
    assert "cannot be reached" in waiting["reason"]
    wfms.http["wfms.chains"].is_down = False
    await wfms.start_chains()
    assert await list_processed_names(wfms) == ["a"]
