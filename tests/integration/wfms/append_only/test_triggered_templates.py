"""Triggers by growth and by schedule use each file once and each time once, despite crashes."""

import asyncio
from datetime import UTC, datetime, timedelta

from sluice.contracts.common.states import ChainState
from tests.integration.wfms.append_only.append_only_chains import (
    PAGES,
    FixedClock,
    get_corpus,
    list_input_files,
    list_triggered_chains,
    make_collecting_plan,
    make_growth_plan,
    make_scheduled_plan,
    run_chain,
    run_collected_chain,
    start_triggered_chains,
)
from tests.integration.wfms.append_only.schedules import read_schedule
from tests.integration.wfms.crashes import crash_at
from tests.integration.wfms.wfms_fixture import WfmsFixture


async def test_template_gets_a_slice_once_enough_files_are_new(wfms: WfmsFixture) -> None:
    wfms.add_template(make_growth_plan(files=4))
    await run_collected_chain(wfms, "a", files=3)
    assert await start_triggered_chains(wfms) == []
    await run_collected_chain(wfms, "b", files=2)
    (first,) = await start_triggered_chains(wfms)
    assert first.dataset_name == "corpus.wf.1"
    assert len(await list_input_files(wfms, [first])) == 5
    assert await start_triggered_chains(wfms) == [first], "there are no new files"
    await run_collected_chain(wfms, "c", files=4)
    chains = await start_triggered_chains(wfms)
    files = await list_input_files(wfms, chains)
    assert len(chains) == 2
    assert len(files) == len(set(files)) == 9


async def test_growth_trigger_by_hours_counts_from_the_last_slice(
    wfms: WfmsFixture,
) -> None:
    wfms.add_template(make_growth_plan(files=100, hours=24))
    await run_collected_chain(wfms, "a")
    clock = FixedClock((await get_corpus(wfms)).since + timedelta(hours=23))
    wfms.databases["wfms.intake"].clock = clock
    assert await start_triggered_chains(wfms) == []
    clock.time += timedelta(hours=1)
    assert len(await start_triggered_chains(wfms)) == 1
    clock.time += timedelta(days=30)
    assert len(await start_triggered_chains(wfms)) == 1


async def test_new_version_continues_after_the_last_slice_and_new_template_begins_anew(
    wfms: WfmsFixture,
) -> None:
    first = wfms.add_template(make_growth_plan(files=1))
    await run_collected_chain(wfms, "a")
    await start_triggered_chains(wfms)
    wfms.templates.remove(first)
    wfms.add_template(make_growth_plan(files=1), version=2)
    wfms.add_template(make_growth_plan(files=1), name="other")
    await run_collected_chain(wfms, "b")
    chains = await start_triggered_chains(wfms)
    other_chains = [chain for chain in chains if chain.template == "other"]
    own_chains = [chain for chain in chains if chain.template == "wf"]
    assert [len(await list_input_files(wfms, [chain])) for chain in own_chains] == [2, 2]
    assert [chain.template_version for chain in own_chains] == [1, 2]
    assert [len(await list_input_files(wfms, [chain])) for chain in other_chains] == [4]


async def test_crash_at_any_place_gives_each_file_to_a_template_once(wfms: WfmsFixture) -> None:
    wfms.add_template(make_growth_plan(files=1))
    place, through = 0, 0
    while through < 4:
        place += 1
        through = 0
        await run_collected_chain(wfms, f"d{place}", files=1)
        for loop in (
            wfms.start_triggered_chains,
            wfms.close_complete_datasets,
            wfms.match_datasets,
            wfms.start_chains,
        ):
            through += await crash_at(wfms, place, loop)
        await start_triggered_chains(wfms)
        files = await list_input_files(wfms, await list_triggered_chains(wfms))
        assert len(files) == len(set(files)) == place, f"crash at place {place}"
    assert place > 8
    assert len(await list_triggered_chains(wfms)) >= place - 1


async def test_concurrent_instances_cut_one_slice(wfms: WfmsFixture) -> None:
    wfms.add_template(make_growth_plan(files=1))
    await run_collected_chain(wfms, "a")
    await asyncio.gather(*(wfms.start_triggered_chains() for _ in range(3)))
    chains = await start_triggered_chains(wfms)
    assert len(await list_input_files(wfms, chains)) == 2


async def test_slice_is_matched_only_with_its_own_template(wfms: WfmsFixture) -> None:
    """Other templates with the same match do not take the slice, and a triggered template takes no
    data set that a person registered.
    """
    wfms.add_template(make_growth_plan(files=1), name="trainer")
    wfms.add_template(make_collecting_plan(match=PAGES), name="any", version=1)
    await run_collected_chain(wfms, "a")
    await wfms.create_input("z", meta={"type": "pages"})
    chains = await start_triggered_chains(wfms)
    assert sorted((chain.template, chain.dataset_name) for chain in chains) == [
        ("any", "z"),
        ("trainer", "corpus.trainer.1"),
    ]


async def test_slice_of_a_deleted_template_becomes_unmatched(wfms: WfmsFixture) -> None:
    template = wfms.add_template(make_growth_plan(files=1))
    await run_collected_chain(wfms, "a")
    await wfms.start_triggered_chains()
    wfms.templates.remove(template)
    wfms.add_template(make_growth_plan(files=1), name="other")
    await wfms.close_complete_datasets()
    await wfms.match_datasets()
    (row,) = await wfms.fetch_rows(
        "wfms.intake", "SELECT reason FROM unmatched WHERE dataset_name = 'corpus.wf.1'"
    )
    assert "the template wf, for which the slice was cut" in row["reason"]


async def test_files_of_a_deleted_slice_stay_in_the_append_only_data_set(wfms: WfmsFixture) -> None:
    """The slice itself is deleted with its chain, like any input."""
    plan = make_growth_plan(files=1)
    wfms.add_template(plan.model_copy(update={"retention": make_collecting_plan().retention}))
    await run_collected_chain(wfms, "a")
    (chain,) = await start_triggered_chains(wfms)
    await run_chain(wfms, chain)
    await wfms.hand_over_releases()
    await wfms.deliver_messages()
    assert chain.dataset_uid in wfms.deletions
    corpus_status = await get_corpus(wfms)
    for file in (await wfms.dms.list_files(corpus_status.dataset.uid)).files:
        assert await wfms.dms.read_part(corpus_status.dataset.uid, file.id, length=file.size)


async def test_schedule_starts_one_chain_for_each_time(
    wfms: WfmsFixture, clock: FixedClock
) -> None:
    wfms.add_template(make_scheduled_plan("0 3 * * *"))
    assert await start_triggered_chains(wfms) == [], "earlier times do not count"
    clock.time = datetime(2026, 10, 2, 2, 59, 59, tzinfo=UTC)
    assert await start_triggered_chains(wfms) == []
    clock.time = datetime(2026, 10, 2, 3, tzinfo=UTC)
    (chain,) = await start_triggered_chains(wfms)
    assert chain.dataset_name == "wf-1-20261002T0300Z"
    clock.time += timedelta(hours=23)
    assert await start_triggered_chains(wfms) == [chain]
    clock.time += timedelta(hours=1)
    assert len(await start_triggered_chains(wfms)) == 2
    assert await read_schedule(wfms) == (clock.time, "a chain of wf-1-20261003T0300Z")
    await run_chain(wfms, chain)
    assert (await wfms.get_chain(chain.uid)).state is ChainState.FINISHED


async def test_missed_times_of_a_schedule_start_one_chain(
    wfms: WfmsFixture, clock: FixedClock
) -> None:
    wfms.add_template(make_scheduled_plan("0 * * * *"))
    await start_triggered_chains(wfms)
    clock.time += timedelta(days=3, minutes=30)
    (chain,) = await start_triggered_chains(wfms)
    assert chain.dataset_name == "wf-1-20261004T1200Z"
    assert await start_triggered_chains(wfms) == [chain]


async def test_disabled_or_changed_schedule_does_not_make_up_missed_times(
    wfms: WfmsFixture, clock: FixedClock
) -> None:
    template = wfms.add_template(make_scheduled_plan("0 3 * * *"))
    await start_triggered_chains(wfms)
    wfms.templates.remove(template)
    clock.time += timedelta(days=1)
    await start_triggered_chains(wfms)
    wfms.templates.append(template)
    assert await start_triggered_chains(wfms) == [], "the template was disabled at that time"
    wfms.templates.remove(template)
    wfms.add_template(make_scheduled_plan("0 * * * *"), version=2)
    clock.time += timedelta(days=1)
    assert await start_triggered_chains(wfms) == [], "the times of the former schedule do not count"
    clock.time += timedelta(hours=1)
    assert len(await start_triggered_chains(wfms)) == 1


async def test_crash_at_any_place_starts_one_chain_for_a_time(
    wfms: WfmsFixture, clock: FixedClock
) -> None:
    wfms.add_template(make_scheduled_plan("0 * * * *"))
    await start_triggered_chains(wfms)
    place, through = 0, 0
    while through < 2:
        place += 1
        through = 0
        clock.time += timedelta(hours=1)
        for loop in (wfms.start_triggered_chains, wfms.start_chains):
            through += await crash_at(wfms, place, loop)
        assert len(await start_triggered_chains(wfms)) == place, f"crash at place {place}"
    assert place > 8


async def test_concurrent_instances_start_one_chain_for_a_time(
    wfms: WfmsFixture, clock: FixedClock
) -> None:
    wfms.add_template(make_scheduled_plan("0 * * * *"))
    await start_triggered_chains(wfms)
    clock.time += timedelta(hours=1)
    await asyncio.gather(*(wfms.start_triggered_chains() for _ in range(3)))
    assert len(await start_triggered_chains(wfms)) == 1


async def test_schedule_with_data_gets_the_new_files_of_each_time(
    wfms: WfmsFixture, clock: FixedClock
) -> None:
    wfms.add_template(make_scheduled_plan("0 3 * * *", match=PAGES))
    await run_collected_chain(wfms, "a")
    assert await start_triggered_chains(wfms) == []
    clock.time += timedelta(days=1)
    (first,) = await start_triggered_chains(wfms)
    assert len(await list_input_files(wfms, [first])) == 2
    assert (await read_schedule(wfms))[1] == "1 slice of corpus"
    clock.time += timedelta(days=1)
    assert await start_triggered_chains(wfms) == [first]
    assert (await read_schedule(wfms))[1] == "nothing was new"


async def test_retried_time_cuts_one_slice_despite_new_files(
    wfms: WfmsFixture, clock: FixedClock
) -> None:
    wfms.add_template(make_scheduled_plan("0 * * * *", match=PAGES))
    await start_triggered_chains(wfms)
    place, through = 0, False
    while not through:
        place += 1
        await run_collected_chain(wfms, f"d{place}", files=1)
        clock.time += timedelta(hours=1)
        through = await crash_at(wfms, place, wfms.start_triggered_chains)
        await run_collected_chain(wfms, f"e{place}", files=1)
        chains = await start_triggered_chains(wfms)
        assert len(chains) == place, f"crash at place {place}"
        files = await list_input_files(wfms, chains)
        assert len(files) == len(set(files))
    assert place > 4


async def test_triggered_template_gets_only_data_sets_visible_to_its_group(
    wfms: WfmsFixture,
) -> None:
    template = wfms.add_template(make_growth_plan(files=1))
    wfms.templates[:] = [template.model_copy(update={"group": "ocr"})]
    await run_collected_chain(wfms, "a")
    corpus_status = await get_corpus(wfms)
    async with wfms.dms_database.connection() as connection:
        await connection.execute(
            "UPDATE datasets SET owner_group = 'spd' WHERE append_only = 'corpus'"
        )
    assert await start_triggered_chains(wfms) == []
    async with wfms.dms_database.connection() as connection:
        await connection.execute(
            "UPDATE datasets SET shared_with = '{ocr}' WHERE append_only = 'corpus'"
        )
    (chain,) = await start_triggered_chains(wfms)
    assert chain.group == "ocr"
    assert (await get_corpus(wfms)).used_by("wf") == corpus_status.dataset.count_files
