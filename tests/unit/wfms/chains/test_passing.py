"""Data sets whose files are released one by one (invariant 4)."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.contracts.common.states import (
    ChainState,
    DatasetType,
    InputMode,
    Pick,
    StepState,
    TaskMode,
)
from sluice.contracts.templates.plan import Batch, MergeGroups, NextSource, Plan, Source, StepInput
from tests.unit.wfms.chains.plans import DATA, draw_plan, make_plan, make_step
from wfms.chains.domain.chain import ChainView, StepView
from wfms.chains.domain.early_release import count_downstream_steps, early_released_inputs
from wfms.chains.domain.graph import downstream_steps, output_ports

MAKE_OUTPUT, OTHER = Source(step="make", port="out"), Source(step="other", port="out")
END = Source(step="read", port="out")


def make_chain_view(wf: Plan) -> ChainView:
    return ChainView(
        plan=wf,
        state=ChainState.IN_PROGRESS,
        ending=None,
        upload_requested=False,
        input_type=DatasetType.INPUT,
        input_needed=False,
        steps={step.name: StepView(StepState.IN_PROGRESS) for step in wf.steps},
        datasets=[],
    )


def make_plan_with_readers(*more_steps: Any, **fields: Any) -> Plan:
    """Return the plan make → read → end, with more steps that read what ``make`` writes."""
    return make_plan(
        make_step("make"),
        make_step("other"),
        make_step("read", fields.pop("source", MAKE_OUTPUT), **fields),
        *more_steps,
        make_step("end", END),
        outputs=[("end", "out")],
    )


def make_side_input(mode: InputMode, source: Source = MAKE_OUTPUT, **more: Any) -> StepInput:
    return StepInput(port="side", source=source, mode=mode, **more)


@pytest.mark.parametrize(
    ("wf", "count"),
    [
        (make_plan_with_readers(), 1),
        (make_plan_with_readers(batch=Batch(files=4)), 1),
        (make_plan_with_readers(mode=TaskMode.MERGE, groups=MergeGroups(files=3)), 1),
        (make_plan_with_readers(mode=TaskMode.MERGE, groups=MergeGroups(files=3, tree=True)), 1),
        (make_plan_with_readers(make_step("more", MAKE_OUTPUT)), 2),
        (make_plan_with_readers(source=OTHER, sides=[make_side_input(InputMode.EACH)]), 1),
        (make_plan_with_readers(sides=[make_side_input(InputMode.ALL, OTHER)]), 1),
        # A step needs the data set as a whole.
        (make_plan_with_readers(mode=TaskMode.MERGE), 0),
        (make_plan_with_readers(flow="dataset"), 0),
        (make_plan_with_readers(make_step("more", MAKE_OUTPUT, flow="dataset")), 0),
        (make_plan_with_readers(make_step("more", MAKE_OUTPUT, mode=TaskMode.MERGE)), 0),
        (make_plan_with_readers(source=OTHER, sides=[make_side_input(InputMode.ALL)]), 0),
        (make_plan_with_readers(source=OTHER, sides=[make_side_input(InputMode.ONE)]), 0),
        (make_plan_with_readers(sides=[make_side_input(InputMode.ALL)]), 0),
        (
            make_plan_with_readers(
                source=OTHER, sides=[make_side_input(InputMode.EACH, optional=True)]
            ),
            0,
        ),
        (make_plan_with_readers(single=True), 0),
        (
            make_plan_with_readers(
                source=OTHER, sides=[make_side_input(InputMode.EACH)], cross=["file", "side"]
            ),
            0,
        ),
        (make_plan_with_readers(pick=Pick.ONLY), 0),
        (make_plan_with_readers(next_sources=[NextSource(source=OTHER, start=10)]), 0),
        (
            make_plan_with_readers(
                source=OTHER, next_sources=[NextSource(source=MAKE_OUTPUT, start=10)]
            ),
            0,
        ),
    ],
)
def test_files_are_released_one_by_one_if_all_steps_read_file_by_file(wf: Plan, count: int) -> None:
    assert count_downstream_steps(wf, "make", "out") == count


def test_files_of_an_unread_data_set_are_not_released_one_by_one() -> None:
    assert count_downstream_steps(make_plan_with_readers(), "other", "out") == 0


def test_files_of_a_workflow_output_are_not_released_one_by_one() -> None:
    wf = make_plan(
        make_step("make"),
        make_step("read", MAKE_OUTPUT),
        outputs=[("make", "out"), ("read", "out")],
    )
    assert count_downstream_steps(wf, "make", "out") == 0


def test_task_gets_the_number_of_steps_that_read_each_of_its_inputs() -> None:
    chain = make_chain_view(make_plan_with_readers(make_step("more", MAKE_OUTPUT)))
    sources = {DATA: UUID(int=1), MAKE_OUTPUT: UUID(int=2)}
    assert early_released_inputs(chain, chain.plan.step("read"), sources) == {UUID(int=2): 2}
    assert early_released_inputs(chain, chain.plan.step("make"), sources) == {}


def test_files_taken_over_from_another_chain_are_not_released_one_by_one() -> None:
    chain = make_chain_view(make_plan_with_readers())
    reused = StepView(StepState.FINISHED, sent=True, taken_from=UUID(int=9))
    chain = replace(chain, steps={**chain.steps, "make": reused})
    assert early_released_inputs(chain, chain.plan.step("read"), {MAKE_OUTPUT: UUID(int=2)}) == {}


@given(draw_plan(), st.data())
def test_downstream_steps_get_the_same_count_and_it_is_their_number(
    wf: Plan, data: st.DataObject
) -> None:
    waits = data.draw(st.sets(st.sampled_from([step.name for step in wf.steps])))
    steps = [
        step.model_copy(update={"flow": "dataset"}) if step.name in waits else step
        for step in wf.steps
    ]
    wf = wf.model_copy(update={"steps": steps})
    chain = make_chain_view(wf)
    for upstream in wf.steps:
        for output in upstream.outputs:
            source, uid = Source(step=upstream.name, port=output.port), UUID(int=7)
            downstream = downstream_steps(wf, upstream.name, output.port)
            whole = (upstream.name, output.port) in output_ports(wf) or any(
                each.name in waits for each in downstream
            )
            # Each step of these plans reads one data set.
            released_inputs = [
                early_released_inputs(chain, each, {source: uid}) for each in downstream
            ]
            assert released_inputs == [
                {} if whole else {uid: len(downstream)} for _ in released_inputs
            ]
