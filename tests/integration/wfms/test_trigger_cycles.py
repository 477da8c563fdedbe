"""Triggered templates in a trigger cycle stop after a number of generations."""

from datetime import timedelta

from sluice.contracts.chains.chains import Chain
from sluice.contracts.data.append_only import Collect, GrowthTrigger, Trigger
from sluice.contracts.data.append_only_list import AppendOnlyDataset
from sluice.contracts.templates.plan import Equals, Plan
from tests.integration.wfms.growing import SetClock, carry, collect, collecting, scheduled, take
from tests.integration.wfms.test_triggered_templates import clock, schedule
from tests.integration.wfms.world import World

__all__ = ["clock"]

A, B = Collect(name="loop-a", type="a"), Collect(name="loop-b", type="b")
MOST = 4


def grown(takes: Collect, gives: Collect | None) -> Plan:
    return collecting(
        into=gives,
        match={"type": Equals(value=takes.type)},
        trigger=Trigger(every=GrowthTrigger(files=1)),
    )


async def go_round(world: World, times: int) -> list[str]:
    """Return the templates of the chains that start one after the other."""
    world.generations = MOST
    names: list[str] = []
    for _ in range(times):
        for chain in (await take(world))[len(names) :]:
            names.append(chain.template)
            await carry(world, chain, files=1)
        await world.collect_outputs()
    return names


async def find_append_only(world: World, name: str) -> AppendOnlyDataset:
    corpora = await world.dms.list_append_only_datasets(generations=True)
    return next(one for one in corpora if one.dataset.append_only == name)


async def test_trigger_cycle_of_two_templates_stops(world: World) -> None:
    await collect(world, "people", plan=collecting(into=A))
    world.template(grown(A, B), name="la")
    lb = world.template(grown(B, A), name="lb")
    assert await go_round(world, MOST + 3) == ["la", "lb", "la", "lb"]
    left = await find_append_only(world, A.name)
    assert (left.new_to("la"), left.generation) == (1, MOST)
    # Files that people add wait, too, until a template of the cycle is removed.
    await collect(world, "more", plan=collecting(into=A))
    assert len(await take(world)) == MOST
    world.templates.remove(lb)
    chains = await take(world)
    assert [chain.template for chain in chains] == ["la"] * 3
    assert (await find_append_only(world, A.name)).new_to("la") == 0


async def test_template_that_triggers_itself_stops(world: World) -> None:
    await collect(world, "people", plan=collecting(into=A))
    world.template(grown(A, A), name="selfy")
    assert await go_round(world, MOST + 3) == ["selfy"] * MOST


async def test_sequence_of_triggers_without_a_cycle_is_not_limited(world: World) -> None:
    sets = [Collect(name=f"s{number}", type=f"t{number}") for number in range(MOST + 3)]
    await collect(world, "people", plan=collecting(into=sets[0]))
    for number, (takes, gives) in enumerate(zip(sets, [*sets[1:], None], strict=True)):
        world.template(grown(takes, gives), name=f"w{number}")
    went = await go_round(world, len(sets) + 1)
    assert went == [f"w{number}" for number in range(len(sets))]


async def test_chain_started_by_hand_does_not_change_the_generation(world: World) -> None:
    await collect(world, "people", plan=collecting(into=A))
    la = world.template(grown(A, B), name="la")
    (chain,) = await take(world)
    await carry(world, chain, files=1)
    await world.collect_outputs()
    assert (await find_append_only(world, B.name)).generation == 1
    await carry(world, await world.new_chain(await world.input("by-hand"), la), files=1)
    await world.collect_outputs()
    b = await find_append_only(world, B.name)
    assert (b.dataset.count_files, b.generation) == (2, 1)


async def test_trigger_cycle_by_schedule_stops_and_its_outcome_says_so(
    world: World, clock: SetClock
) -> None:
    world.generations = MOST
    await collect(world, "people", plan=collecting(into=A))
    nightly = scheduled("0 3 * * *", match={"type": Equals(value="a")})
    outputs = [nightly.outputs[0].model_copy(update={"collect": A})]
    world.template(nightly.model_copy(update={"outputs": outputs}))
    chains: list[Chain] = []
    for _ in range(MOST + 2):
        for chain in (await take(world))[len(chains) :]:
            chains.append(chain)
            await carry(world, chain, files=1)
        await world.collect_outputs()
        clock.time += timedelta(days=1)
    assert len(await take(world)) == MOST
    assert await schedule(world) == (
        clock.time.replace(hour=3),
        "nothing of loop-a, because the templates form a trigger cycle",
    )
