"""Chains of templates that take no data set."""

import pytest

from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.common.states import ChainState, InputMode, StepState, TaskMode
from sluice.contracts.data.datasets import Dataset, NewDataset
from sluice.contracts.jobs.needs import Needs
from sluice.contracts.templates.plan import (
    Parameter,
    ParameterRef,
    Plan,
    PlanStep,
    Retention,
    Source,
    StepInput,
    StepOutput,
)
from tests.integration.wfms.reruns.reruns import rerun_chain, run_all_loops
from tests.integration.wfms.wfms_fixture import WfmsFixture
from tests.unit.wfms.chains.plans import make_plan, make_step

NOTHING = StepInput(port="", source=Source(step=None, port=""), mode=InputMode.NONE, optional=True)


def make_scatter_plan() -> Plan:
    over = PlanStep(
        name="over",
        mode=TaskMode.MAP,
        inputs=[NOTHING],
        outputs=[StepOutput(port="out")],
        tool={"class": "over"},
        arguments={"cut": ParameterRef(name="cuts")},
        needs=Needs(items=["cut"]),
    )
    return make_plan(
        over,
        make_step("merge", Source(step="over", port="out"), mode=TaskMode.MERGE),
        outputs=[("merge", "out")],
        parameters={"cuts": Parameter(type={"type": "array", "items": "int"}, required=True)},
        retention=Retention(input="keep", logs="delete"),
    ).model_copy(update={"data_input": ""})


async def get_placeholder_dataset(wfms: WfmsFixture, name: str) -> Dataset:
    dataset = await wfms.dms.register_dataset(NewDataset(name=name, on_demand=True))
    return await wfms.dms.close_dataset(dataset.uid, files=0)


async def test_chain_without_a_data_set_runs_and_can_be_rerun(wfms: WfmsFixture) -> None:
    """The placeholder data set is kept for the rerun."""
    placeholder = await get_placeholder_dataset(wfms, "none")
    chain = await wfms.create_chain(
        placeholder, wfms.add_template(make_scatter_plan()), cuts=[1, 2]
    )
    await run_all_loops(wfms)
    assert (await wfms.get_chain(chain.uid)).state is ChainState.FINISHED
    (task,) = [task for task in wfms.wms.tasks.values() if task.step == "over"]
    assert (task.main_input.dat_in_uid, task.main_input.mode) == (placeholder.uid, InputMode.NONE)
    assert task.args == {"cut": [1, 2]}
    assert placeholder.uid not in wfms.deletions
    other = await rerun_chain(wfms, chain, params={"cuts": [3]})
    await run_all_loops(wfms)
    finished = await wfms.get_chain(other.uid)
    assert finished.state is ChainState.FINISHED
    assert {each.state for each in finished.steps} == {StepState.FINISHED}


async def test_data_set_with_files_is_refused_for_a_template_without_data(
    wfms: WfmsFixture,
) -> None:
    template = wfms.add_template(make_scatter_plan())
    with pytest.raises(Unprocessable, match=r"takes no data set \(all its inputs are"):
        await wfms.create_chain(await wfms.create_input("a"), template, cuts=[1])
