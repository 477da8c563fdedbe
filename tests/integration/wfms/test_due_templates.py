"""Templates that are due by growth or by the clock: each file once, each time once, whatever dies
and however many there are."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from sluice.contracts.states import ChainState
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
    """Of the intake."""
    set_clock = SetClock()
    world.databases["wfms.intake"].clock = set_clock
    return set_clock


async def schedule(world: World) -> tuple[datetime | None, str]:
    (row,) = await world.rows("wfms.intake", "SELECT last_at, came_of_it AS outcome FROM schedules")
    return row["last_at"], row["outcome"]


async def test_a_template_gets_what_is_new_when_enough_is(world: World) -> None:
    world.template(grown(files=4))
    await collect(world, "a", files=3)
    assert await take(world) == []
    await collect(world, "b", files=2)
    (first,) = await take(world)
    assert first.dataset_name == "corpus.wf.1"
    assert len(await files_given(world, [first])) == 5
    assert await take(world) == [first], "nothing is new"
    await collect(world, "c", files=4)
    chains = await take(world)
    given = await files_given(world, chains)
    assert len(chains) == 2
    assert len(given) == len(set(given)) == 9


async def test_hours_count_from_the_last_slice_and_only_where_something_is_new(
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


async def test_a_new_version_goes_on_where_the_last_was_another_template_begins_at_the_start(
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


async def test_a_crash_anywhere_gives_each_file_once(world: World) -> None:
    world.template(grown(files=1))
    place, through = 0, 0
    while through < 4:
        place += 1
        through = 0
        await collect(world, f"d{place}", files=1)
        for crank in (
            world.start_due,
            world.close_slices,
            world.take_in,
            world.start_chains,
        ):
            through += await crash_at(world, place, crank)
        await take(world)
        given = await files_given(world, await taken(world))
        assert len(given) == len(set(given)) == place, f"crash at place {place}"
    assert place > 8
    assert len(await taken(world)) >= place - 1


async def test_two_instances_cut_once(world: World) -> None:
    world.template(grown(files=1))
    await collect(world, "a")
    await asyncio.gather(*(world.start_due() for _ in range(3)))
    chains = await take(world)
    assert len(await files_given(world, chains)) == 2


async def test_a_slice_is_the_templates_that_it_was_cut_for(world: World) -> None:
    """Another one that matches the same takes nothing; a template that takes slices takes no data
    set that somebody has brought."""
    world.template(grown(files=1), name="trainer")
    world.template(collecting(match=PAGES), name="any", version=1)
    await collect(world, "a")
    await world.input("z", meta={"type": "pages"})
    chains = await take(world)
    assert sorted((chain.template, chain.dataset_name) for chain in chains) == [
        ("any", "z"),
        ("trainer", "corpus.trainer.1"),
    ]


async def test_a_slice_whose_template_is_gone_meanwhile_waits_for_a_person(world: World) -> None:
    template = world.template(grown(files=1))
    await collect(world, "a")
    await world.start_due()
    world.templates.remove(template)
    world.template(grown(files=1), name="other")
    await world.close_slices()
    await world.take_in()
    (row,) = await world.rows(
        "wfms.intake", "SELECT reason FROM unmatched WHERE dataset_name = 'corpus.wf.1'"
    )
    assert "the template wf, for which it was cut" in row["reason"]


async def test_what_it_has_used_up_stays_in_the_data_set_that_grows(world: World) -> None:
    """The slice goes with its chain, as any input does."""
    plan = grown(files=1)
    world.template(plan.model_copy(update={"retention": collecting().retention}))
    await collect(world, "a")
    (chain,) = await take(world)
    await carry(world, chain)
    await world.hand_over_releases()
    await world.deliver()
    assert chain.dataset_uid in world.deletions
    found = await corpus(world)
    for file in (await world.dms.files(found.dataset.uid)).files:
        assert await world.dms.part(found.dataset.uid, file.id, length=file.size)


async def test_a_schedule_starts_a_chain_of_values_once_for_each_time(
    world: World, clock: SetClock
) -> None:
    world.template(scheduled("0 3 * * *"))
    assert await take(world) == [], "times before it was there are none of its"
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


async def test_times_that_were_missed_are_made_up_once(world: World, clock: SetClock) -> None:
    world.template(scheduled("0 * * * *"))
    await take(world)
    clock.time += timedelta(days=3, minutes=30)
    (chain,) = await take(world)
    assert chain.dataset_name == "wf-1-20261004T1200Z"
    assert await take(world) == [chain]


async def test_a_schedule_that_is_disabled_or_changed_begins_anew(
    world: World, clock: SetClock
) -> None:
    template = world.template(scheduled("0 3 * * *"))
    await take(world)
    world.templates.remove(template)
    clock.time += timedelta(days=1)
    await take(world)
    world.templates.append(template)
    assert await take(world) == [], "it was disabled at that time"
    world.templates.remove(template)
    world.template(scheduled("0 * * * *"), version=2)
    clock.time += timedelta(days=1)
    assert await take(world) == [], "the times of another schedule were none of its"
    clock.time += timedelta(hours=1)
    assert len(await take(world)) == 1


async def test_a_crash_anywhere_makes_one_chain_for_a_time(world: World, clock: SetClock) -> None:
    world.template(scheduled("0 * * * *"))
    await take(world)
    place, through = 0, 0
    while through < 2:
        place += 1
        through = 0
        clock.time += timedelta(hours=1)
        for crank in (world.start_due, world.start_chains):
            through += await crash_at(world, place, crank)
        assert len(await take(world)) == place, f"crash at place {place}"
    assert place > 8


async def test_two_instances_start_one_chain_for_a_time(world: World, clock: SetClock) -> None:
    world.template(scheduled("0 * * * *"))
    await take(world)
    clock.time += timedelta(hours=1)
    await asyncio.gather(*(world.start_due() for _ in range(3)))
    assert len(await take(world)) == 1


async def test_a_schedule_with_data_takes_what_is_new_then(world: World, clock: SetClock) -> None:
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


async def test_a_time_cuts_one_slice_though_files_come_between_two_tries(
    world: World, clock: SetClock
) -> None:
    world.template(scheduled("0 * * * *", match=PAGES))
    await take(world)
    place, through = 0, False
    while not through:
        place += 1
        await collect(world, f"d{place}", files=1)
        clock.time += timedelta(hours=1)
        through = await crash_at(world, place, world.start_due)
        await collect(world, f"e{place}", files=1)
        chains = await take(world)
        assert len(chains) == place, f"crash at place {place}"
        given = await files_given(world, chains)
        assert len(given) == len(set(given))
    assert place > 4


async def test_a_template_of_another_group_takes_nothing_that_it_does_not_see(
    world: World,
) -> None:
    template = world.template(grown(files=1))
    world.templates[:] = [template.model_copy(update={"group": "ocr"})]
    await collect(world, "a")
    found = await corpus(world)
    async with world.dms_database.connection() as connection:
        await connection.execute(
            "UPDATE datasets SET owner_group = 'spd' WHERE standing = 'corpus'"
        )
    assert await take(world) == []
    async with world.dms_database.connection() as connection:
        await connection.execute(
            "UPDATE datasets SET shared_with = '{ocr}' WHERE standing = 'corpus'"
        )
    (chain,) = await take(world)
    assert chain.group == "ocr"
    assert (await corpus(world)).used_by("wf") == found.dataset.count_files
