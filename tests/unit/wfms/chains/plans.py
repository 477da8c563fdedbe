"""Plans for tests, fixed and random."""

from collections.abc import Sequence
from typing import Any, Literal

from hypothesis import strategies as st

from sluice.contracts.common.states import TaskMode
from sluice.contracts.templates.plan import (
    Plan,
    PlanOutput,
    PlanStep,
    Retention,
    Source,
    StepInput,
    StepOutput,
    main_input_mode,
)
from tests.task_fields import group_needs

#: The data input of a workflow.
DATA = Source(step=None, port="frames")


#: Retention of a chain that keeps only its outputs.
DELETE_ALL = Retention(input="delete", only_copies=True, logs="delete")


def make_step(
    name: str, source: Source = DATA, *ports: str, sides: Sequence[StepInput] = (), **more: Any
) -> PlanStep:
    """Return a step with these outputs, by default ``out``.

    ``sides`` are further inputs; ``next_sources`` and ``pick`` belong to the main input.
    """
    chosen = {key: more.pop(key) for key in ("next_sources", "pick") if key in more}
    mode = more.pop("mode", TaskMode.MAP)
    main = StepInput(port="file", source=source, mode=main_input_mode(mode), **chosen)
    outputs = [StepOutput(port=port) for port in ports or ("out",)]
    return PlanStep(
        name=name,
        mode=mode,
        inputs=[main, *sides],
        outputs=outputs,
        tool={"class": name},
        **group_needs(more),
    )


def make_plan(*steps: PlanStep, outputs: list[tuple[str, str]], **more: Any) -> Plan:
    named = [
        PlanOutput(name=f"{producer}_{port}", step=producer, port=port)
        for producer, port in outputs
    ]
    return Plan(
        name="wf",
        cwl_version="v1.2",
        data_input=DATA.port,
        steps=list(steps),
        outputs=named,
        **more,
    )


def make_three_steps(**more: Any) -> Plan:
    """Return the usual chain: decode → filter → merge."""
    return make_plan(
        make_step("decode"),
        make_step("filter", Source(step="decode", port="out")),
        make_step("merge", Source(step="filter", port="out"), mode=TaskMode.MERGE),
        outputs=[("merge", "out")],
        **more,
    )


@st.composite
def draw_plan(draw: st.DrawFn) -> Plan:
    """Draw a plan with up to six steps of up to two ports each.

    Each step reads the workflow's input or a port of another step, without cycles.
    """
    steps: list[PlanStep] = []
    for number in range(draw(st.integers(1, 6))):
        earlier = [
            Source(step=producer.name, port=out.port)
            for producer in steps
            for out in producer.outputs
        ]
        source = draw(st.sampled_from([DATA, *earlier]))
        steps.append(make_step(f"s{number}", source, *(["a", "b"][: draw(st.integers(1, 2))])))
    every = [(producer.name, out.port) for producer in steps for out in producer.outputs]
    outputs = draw(st.lists(st.sampled_from(every), min_size=1, max_size=3, unique=True))
    keep: Literal["keep", "delete"] = draw(st.sampled_from(["keep", "delete"]))
    logs: Literal["keep", "delete"] = draw(st.sampled_from(["keep", "delete"]))
    retention = Retention(input=keep, only_copies=keep == "delete", logs=logs)
    return make_plan(*draw(st.permutations(steps)), outputs=outputs, retention=retention)
