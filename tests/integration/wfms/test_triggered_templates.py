"""Triggers by growth and by schedule use each file once and each time once, despite crashes."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from sluice.contracts.common.states import ChainState
from tests.integration.wfms.growing import (
    PAGES,
    SetClock,
    carry,
    collect,
    collecting,
    corpus,
    files_given,
    grown,
    scheduled,
    take,
    taken,
)
from tests.integration.wfms.test_crashes import crash_at
from tests.integration.wfms.world import World


@pytest.fixture
def clock(world: World) -> SetClock:
    """Return the clock of the intake."""
    set_clock = SetClock()
    world.databases["wfms.intake"].clock = set_clock
    return set_clock


async def schedule(world: World) -> tuple[datetime | None, str]:
    (row,) = await world.rows("wfms.intake", "SELECT last_at, came_of_it AS outcome FROM schedules")
    return row["last_at"], row["outcome"]


async def test_template_gets_new_files_when_there_are_enough(world: World) -> None:
    world.template(grown(files=4))
    await collect(world, "a", files=3)
    assert await take(world) == []
    await collect(world, "b", files=2)
    (first,) = await take(world)
    assert first.dataset_name == "corpus.wf.1"
    assert len(await files_given(world, [first])) == 5
    assert await take(world) == [first], "there are no new files"
    await collect(world, "c", files=4)
    chains = await take(world)
    files = await files_given(world, chains)
    assert len(chains) == 2
    assert len(files) == len(set(files)) == 9


async def test_growth_trigger_by_hours_counts_from_the_last_slice(
    world: World,
) -> None:
    world.template(grown(files=100, hours=24))
    await collect(world, "a")
    clock = SetClock((await corpus(world)).since + timedelta(hours=23))
    world.databases["wfms.intake"].clock = clock
    assert await take(world) == []
    clock.time += timedelta(hours=1)
    assert len(await take(world)) == 1
    clock.time += timedelta(days=30)
    assert len(await take(world)) == 1


async def test_new_version_continues_after_the_last_slice_and_new_template_begins_anew(
    world: World,
) -> None:
    first = world.template(grown(files=1))
    await collect(world, "a")
    await take(world)
    world.templates.remove(first)
    world.template(grown(files=1), version=2)
    world.template(grown(files=1), name="other")
    await collect(world, "b")
    chains = await take(world)
    of_other = [chain for chain in chains if chain.template == "other"]
    of_wf = [chain for chain in chains if chain.template == "wf"]
    assert [len(await files_given(world, [chain])) for chain in of_wf] == [2, 2]
    assert [chain.template_version for chain in of_wf] == [1, 2]
    assert [len(await files_given(world, [chain])) for chain in of_other] == [4]


async def test_crash_at_any_place_gives_each_file_to_a_template_once(world: World) -> None:
    world.template(grown(files=1))
    place, through = 0, 0
    while through < 4:
        place += 1
        through = 0
        await collect(world, f"d{place}", files=1)
        for crank in (
            world.start_triggered_chains,
            world.close_slices,
            world.take_in,
            world.start_chains,
        ):
            through += await crash_at(world, place, crank)
        await take(world)
        files = await files_given(world, await taken(world))
        assert len(files) == len(set(files)) == place, f"crash at place {place}"
    assert place > 8
    assert len(await taken(world)) >= place - 1


async def test_concurrent_instances_cut_one_slice(world: World) -> None:
    world.template(grown(files=1))
    await collect(world, "a")
    await asyncio.gather(*(world.start_triggered_chains() for _ in range(3)))
    chains = await take(world)
    assert len(await files_given(world, chains)) == 2


async def test_slice_is_matched_only_with_its_own_template(world: World) -> None:
    """Other templates with the same match do not take the slice, and a triggered template takes no
    data set that a person registered.
    """
    world.template(grown(files=1), name="trainer")
    world.template(collecting(match=PAGES), name="any", version=1)
    await collect(world, "a")
    await world.input("z", meta={"type": "pages"})
    chains = await take(world)
    assert sorted((chain.template, chain.dataset_name) for chain in chains) == [
        ("any", "z"),
        ("trainer", "corpus.trainer.1"),
    ]


async def test_slice_of_a_deleted_template_becomes_unmatched(world: World) -> None:
    template = world.template(grown(files=1))
    await collect(world, "a")
    await world.start_triggered_chains()
    world.templates.remove(template)
    world.template(grown(files=1), name="other")
    await world.close_slices()
    await world.take_in()
    (row,) = await world.rows(
        "wfms.intake", "SELECT reason FROM unmatched WHERE dataset_name = 'corpus.wf.1'"
    )
    assert "the template wf, for which it was cut" in row["reason"]


async def test_files_of_a_deleted_slice_stay_in_the_append_only_data_set(world: World) -> None:
    """The slice itself is deleted with its chain, like any input."""
    plan = grown(files=1)
    world.template(plan.model_copy(update={"retention": collecting().retention}))
    await collect(world, "a")
    (chain,) = await take(world)
    await carry(world, chain)
    await world.hand_over_releases()
    await world.deliver()
    assert chain.dataset_uid in world.deletions
    corpus_status = await corpus(world)
    for file in (await world.dms.list_files(corpus_status.dataset.uid)).files:
        assert await world.dms.read_part(corpus_status.dataset.uid, file.id, length=file.size)


async def test_schedule_starts_one_chain_for_each_time(world: World, clock: SetClock) -> None:
    world.template(scheduled("0 3 * * *"))
    assert await take(world) == [], "earlier times do not count"
    clock.time = datetime(2026, 10, 2, 2, 59, 59, tzinfo=UTC)
    assert await take(world) == []
    clock.time = datetime(2026, 10, 2, 3, tzinfo=UTC)
    (chain,) = await take(world)
    assert chain.dataset_name == "wf-1-20261002T0300Z"
    clock.time += timedelta(hours=23)
    assert await take(world) == [chain]
    clock.time += timedelta(hours=1)
    assert len(await take(world)) == 2
    assert await schedule(world) == (clock.time, "a chain of wf-1-20261003T0300Z")
    await carry(world, chain)
    assert (await world.chain(chain.uid)).state is ChainState.FINISHED


async def test_missed_times_of_a_schedule_start_one_chain(world: World, clock: SetClock) -> None:
    world.template(scheduled("0 * * * *"))
    await take(world)
    clock.time += timedelta(days=3, minutes=30)
    (chain,) = await take(world)
    assert chain.dataset_name == "wf-1-20261004T1200Z"
    assert await take(world) == [chain]


async def test_disabled_or_changed_schedule_does_not_make_up_missed_times(
    world: World, clock: SetClock
) -> None:
    template = world.template(scheduled("0 3 * * *"))
    await take(world)
    world.templates.remove(template)
    clock.time += timedelta(days=1)
    await take(world)
    world.templates.append(template)
    assert await take(world) == [], "the template was disabled at that time"
    world.templates.remove(template)
    world.template(scheduled("0 * * * *"), version=2)
    clock.time += timedelta(days=1)
    assert await take(world) == [], "the times of the former schedule do not count"
    clock.time += timedelta(hours=1)
    assert len(await take(world)) == 1


async def test_crash_at_any_place_starts_one_chain_for_a_time(
    world: World, clock: SetClock
) -> None:
    world.template(scheduled("0 * * * *"))
    await take(world)
    place, through = 0, 0
    while through < 2:
        place += 1
        through = 0
        clock.time += timedelta(hours=1)
        for crank in (world.start_triggered_chains, world.start_chains):
            through += await crash_at(world, place, crank)
        assert len(await take(world)) == place, f"crash at place {place}"
    assert place > 8


async def test_concurrent_instances_start_one_chain_for_a_time(
    world: World, clock: SetClock
) -> None:
    world.template(scheduled("0 * * * *"))
    await take(world)
    clock.time += timedelta(hours=1)
    await asyncio.gather(*(world.start_triggered_chains() for _ in range(3)))
    assert len(await take(world)) == 1


async def test_schedule_with_data_gets_the_new_files_of_each_time(
    world: World, clock: SetClock
) -> None:
    world.template(scheduled("0 3 * * *", match=PAGES))
    await collect(world, "a")
    assert await take(world) == []
    clock.time += timedelta(days=1)
    (first,) = await take(world)
    assert len(await files_given(world, [first])) == 2
    assert (await schedule(world))[1] == "1 slice of corpus"
    clock.time += timedelta(days=1)
    assert await take(world) == [first]
    assert (await schedule(world))[1] == "nothing was new"


async def test_retried_time_cuts_one_slice_despite_new_files(world: World, clock: SetClock) -> None:
    world.template(scheduled("0 * * * *", match=PAGES))
    await take(world)
    place, through = 0, False
    while not through:
        place += 1
        await collect(world, f"d{place}", files=1)
        clock.time += timedelta(hours=1)
        through = await crash_at(world, place, world.start_triggered_chains)
        await collect(world, f"e{place}", files=1)
        chains = await take(world)
        assert len(chains) == place, f"crash at place {place}"
        files = await files_given(world, chains)
        assert len(files) == len(set(files))
    assert place > 4


async def test_triggered_template_gets_only_data_sets_visible_to_its_group(
    world: World,
) -> None:
    template = world.template(grown(files=1))
    world.templates[:] = [template.model_copy(update={"group": "ocr"})]
    await collect(world, "a")
    corpus_status = await corpus(world)
    async with world.dms_database.connection() as connection:
        await connection.execute(
            "UPDATE datasets SET owner_group = 'spd' WHERE append_only = 'corpus'"
        )
    assert await take(world) == []
    async with world.dms_database.connection() as connection:
        await connection.execute(
            "UPDATE datasets SET shared_with = '{ocr}' WHERE append_only = 'corpus'"
        )
    (chain,) = await take(world)
    assert chain.group == "ocr"
    assert (await corpus(world)).used_by("wf") == corpus_status.dataset.count_files
