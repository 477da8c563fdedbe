"""Which data sets give up their files one by one: never what anybody needs as a whole (invariant
4)."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.contracts.plan import Batch, MergeGroups, NextSource, Plan, Source, StepInput
from sluice.contracts.states import (
    ChainState,
    DatasetType,
    InputMode,
    Pick,
    StepState,
    TaskMode,
)
from tests.unit.wfms.chains.plans import DATA, plan, plans, step
from wfms.chains.domain.chain import ChainView, StepView
from wfms.chains.domain.graph import output_ports, readers
from wfms.chains.domain.passing import passing_inputs, readers_of_files

MADE, OTHER = Source(step="make", port="out"), Source(step="other", port="out")
END = Source(step="read", port="out")


def view(wf: Plan) -> ChainView:
    return ChainView(
        plan=wf,
        state=ChainState.IN_PROGRESS,
        ending=None,
        upload_asked=False,
        input_type=DatasetType.INPUT,
        input_kept=False,
        steps={step.name: StepView(StepState.IN_PROGRESS) for step in wf.steps},
        datasets=[],
    )


def read_by(*more_readers: Any, **reader: Any) -> Plan:
    """``make`` → ``read`` → ``end``, and others that read what ``make`` writes."""
    return plan(
        step("make"),
        step("other"),
        step("read", reader.pop("source", MADE), **reader),
        *more_readers,
        step("end", END),
        outputs=[("end", "out")],
    )


def side(mode: InputMode, source: Source = MADE, **more: Any) -> StepInput:
    return StepInput(port="side", source=source, mode=mode, **more)


@pytest.mark.parametrize(
    ("wf", "count"),
    [
        (read_by(), 1),
        (read_by(batch=Batch(files=4)), 1),
        (read_by(mode=TaskMode.MERGE, groups=MergeGroups(files=3)), 1),
        (read_by(mode=TaskMode.MERGE, groups=MergeGroups(files=3, tree=True)), 1),
        (read_by(step("more", MADE)), 2),
        (read_by(source=OTHER, sides=[side(InputMode.EACH)]), 1),
        (read_by(sides=[side(InputMode.ALL, OTHER)]), 1),
        # Somebody needs it as a whole.
        (read_by(mode=TaskMode.MERGE), 0),
        (read_by(flow="dataset"), 0),
        (read_by(step("more", MADE, flow="dataset")), 0),
        (read_by(step("more", MADE, mode=TaskMode.MERGE)), 0),
        (read_by(source=OTHER, sides=[side(InputMode.ALL)]), 0),
        (read_by(source=OTHER, sides=[side(InputMode.ONE)]), 0),
        (read_by(sides=[side(InputMode.ALL)]), 0),
        (read_by(source=OTHER, sides=[side(InputMode.EACH, optional=True)]), 0),
        (read_by(single=True), 0),
        (read_by(source=OTHER, sides=[side(InputMode.EACH)], cross=["file", "side"]), 0),
        (read_by(pick=Pick.ONLY), 0),
        (read_by(next_sources=[NextSource(source=OTHER, start=10)]), 0),
        (read_by(source=OTHER, next_sources=[NextSource(source=MADE, start=10)]), 0),
    ],
)
def test_it_does_where_all_read_it_file_by_file(wf: Plan, count: int) -> None:
    assert readers_of_files(wf, "make", "out") == count


def test_what_nobody_reads_stays() -> None:
    assert readers_of_files(read_by(), "other", "out") == 0


def test_an_output_of_the_workflow_stays() -> None:
    wf = plan(step("make"), step("read", MADE), outputs=[("make", "out"), ("read", "out")])
    assert readers_of_files(wf, "make", "out") == 0


def test_a_task_is_told_of_what_it_reads_itself() -> None:
    chain = view(read_by(step("more", MADE)))
    sources = {DATA: UUID(int=1), MADE: UUID(int=2)}
    assert passing_inputs(chain, chain.plan.step("read"), sources) == {UUID(int=2): 2}
    assert passing_inputs(chain, chain.plan.step("make"), sources) == {}


def test_what_was_taken_over_from_another_chain_stays() -> None:
    chain = view(read_by())
    taken = StepView(StepState.FINISHED, sent=True, taken_from=UUID(int=9))
    chain = replace(chain, steps={**chain.steps, "make": taken})
    assert passing_inputs(chain, chain.plan.step("read"), {MADE: UUID(int=2)}) == {}


@given(plans(), st.data())
def test_all_readers_say_the_same_number_and_there_are_so_many(
    wf: Plan, data: st.DataObject
) -> None:
    waits = data.draw(st.sets(st.sampled_from([step.name for step in wf.steps])))
    steps = [
        step.model_copy(update={"flow": "dataset"}) if step.name in waits else step
        for step in wf.steps
    ]
    wf = wf.model_copy(update={"steps": steps})
    chain = view(wf)
    for writer in wf.steps:
        for output in writer.outputs:
            source, uid = Source(step=writer.name, port=output.port), UUID(int=7)
            who = readers(wf, writer.name, output.port)
            whole = (writer.name, output.port) in output_ports(wf) or any(
                reader.name in waits for reader in who
            )
            # Each step of these plans reads one data set.
            told = [passing_inputs(chain, reader, {source: uid}) for reader in who]
            assert told == [{} if whole else {uid: len(who)} for _ in told]
