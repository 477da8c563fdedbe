"""Triggered templates in a trigger cycle stop after a number of generations."""

from datetime import timedelta

from sluice.contracts.chains.chains import Chain
from sluice.contracts.data.append_only import Collect, GrowthTrigger, Trigger
from sluice.contracts.data.append_only_list import AppendOnlyDataset
from sluice.contracts.templates.conditions import Equals
from sluice.contracts.templates.plan import Plan
from tests.integration.wfms.append_only.append_only_chains import (
    FixedClock,
    make_collecting_plan,
    make_scheduled_plan,
    run_chain,
    run_collected_chain,
    start_triggered_chains,
)
from tests.integration.wfms.append_only.schedules import read_schedule
from tests.integration.wfms.wfms_fixture import WfmsFixture

A, B = Collect(name="loop-a", type="a"), Collect(name="loop-b", type="b")
MAX_GENERATIONS = 4


def make_triggered_plan(input_name: Collect, output_name: Collect | None) -> Plan:
    return make_collecting_plan(
        into=output_name,
        match={"type": Equals(value=input_name.type)},
        trigger=Trigger(every=GrowthTrigger(files=1)),
    )


async def run_triggered_chains(wfms: WfmsFixture, times: int) -> list[str]:
    """Return the templates of the chains that start one after the other."""
    wfms.generations = MAX_GENERATIONS
    names: list[str] = []
    for _ in range(times):
        for chain in (await start_triggered_chains(wfms))[len(names) :]:
            names.append(chain.template)
            await run_chain(wfms, chain, files=1)
        await wfms.collect_outputs()
    return names


async def find_append_only(wfms: WfmsFixture, name: str) -> AppendOnlyDataset:
    corpora = await wfms.dms.list_append_only_datasets(generations=True)
    return next(one for one in corpora if one.dataset.append_only == name)


async def test_trigger_cycle_of_two_templates_stops(wfms: WfmsFixture) -> None:
    await run_collected_chain(wfms, "people", plan=make_collecting_plan(into=A))
    wfms.add_template(make_triggered_plan(A, B), name="la")
    lb = wfms.add_template(make_triggered_plan(B, A), name="lb")
    assert await run_triggered_chains(wfms, MAX_GENERATIONS + 3) == ["la", "lb", "la", "lb"]
    left = await find_append_only(wfms, A.name)
    assert (left.new_to("la"), left.generation) == (1, MAX_GENERATIONS)
    # Files that people add wait, too, until a template of the cycle is removed.
    await run_collected_chain(wfms, "more", plan=make_collecting_plan(into=A))
    assert len(await start_triggered_chains(wfms)) == MAX_GENERATIONS
    wfms.templates.remove(lb)
    chains = await start_triggered_chains(wfms)
    assert [chain.template for chain in chains] == ["la"] * 3
    assert (await find_append_only(wfms, A.name)).new_to("la") == 0


async def test_template_that_triggers_itself_stops(wfms: WfmsFixture) -> None:
    await run_collected_chain(wfms, "people", plan=make_collecting_plan(into=A))
    wfms.add_template(make_triggered_plan(A, A), name="selfy")
    assert await run_triggered_chains(wfms, MAX_GENERATIONS + 3) == ["selfy"] * MAX_GENERATIONS


async def test_sequence_of_triggers_without_a_cycle_is_not_limited(wfms: WfmsFixture) -> None:
    sets = [Collect(name=f"s{number}", type=f"t{number}") for number in range(MAX_GENERATIONS + 3)]
    await run_collected_chain(wfms, "people", plan=make_collecting_plan(into=sets[0]))
    for number, (input_name, output_name) in enumerate(zip(sets, [*sets[1:], None], strict=True)):
        wfms.add_template(make_triggered_plan(input_name, output_name), name=f"w{number}")
    started = await run_triggered_chains(wfms, len(sets) + 1)
    assert started == [f"w{number}" for number in range(len(sets))]


async def test_chain_started_by_hand_does_not_change_the_generation(wfms: WfmsFixture) -> None:
    await run_collected_chain(wfms, "people", plan=make_collecting_plan(into=A))
    la = wfms.add_template(make_triggered_plan(A, B), name="la")
    (chain,) = await start_triggered_chains(wfms)
    await run_chain(wfms, chain, files=1)
    await wfms.collect_outputs()
    assert (await find_append_only(wfms, B.name)).generation == 1
    await run_chain(wfms, await wfms.create_chain(await wfms.create_input("by-hand"), la), files=1)
    await wfms.collect_outputs()
    b = await find_append_only(wfms, B.name)
    assert (b.dataset.count_files, b.generation) == (2, 1)


async def test_trigger_cycle_by_schedule_stops_and_its_outcome_says_so(
    wfms: WfmsFixture, clock: FixedClock
) -> None:
    wfms.generations = MAX_GENERATIONS
    await run_collected_chain(wfms, "people", plan=make_collecting_plan(into=A))
    nightly_template = make_scheduled_plan("0 3 * * *", match={"type": Equals(value="a")})
    outputs = [nightly_template.outputs[0].model_copy(update={"collect": A})]
    wfms.add_template(nightly_template.model_copy(update={"outputs": outputs}))
    chains: list[Chain] = []
    for _ in range(MAX_GENERATIONS + 2):
        for chain in (await start_triggered_chains(wfms))[len(chains) :]:
            chains.append(chain)
            await run_chain(wfms, chain, files=1)
        await wfms.collect_outputs()
        clock.time += timedelta(days=1)
    assert len(await start_triggered_chains(wfms)) == MAX_GENERATIONS
    assert await read_schedule(wfms) == (
        clock.time.replace(hour=3),
        "no slice of loop-a, because the templates form a trigger cycle",
    )
