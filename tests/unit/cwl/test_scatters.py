"""What plans say of steps over values, and over each with each."""

from sluice.contracts.plan import Constant, ParameterRef, Source
from sluice.contracts.states import InputMode, TaskMode
from tests.unit.cwl.samples import GRAPH, edited, plan_of

SWEEP = """\
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}}
inputs: {frames: "File[]", cuts: "int[]", note: {type: "string[]", default: [a]}}
outputs: {all: {type: "File[]", outputSource: try/said}}
steps:
  try:
    scatter: [cut, word]
    scatterMethod: dotproduct
    in: {cut: cuts, word: {default: [x, y]}, frames: frames}
    out: [said]
    run:
      class: CommandLineTool
      baseCommand: echo
      inputs: {cut: int, word: string, frames: "File[]"}
      outputs: {said: stdout}
      requirements: {ToolTimeLimit: {timelimit: 10}}
"""


def test_a_step_over_values_has_the_lists_among_its_arguments() -> None:
    """It belongs to the data set, of which its jobs get nothing by that."""
    (step,) = plan_of(SWEEP).steps
    assert step.mode is TaskMode.MAP
    assert step.needs.items == ["cut", "word"]
    assert step.arguments == {
        "cut": ParameterRef(name="cuts"),
        "word": Constant(value=["x", "y"]),
    }
    main, frames = step.inputs
    assert (main.source, main.mode, main.port) == (
        Source(step=None, port="frames"),
        InputMode.NONE,
        "",
    )
    assert (frames.port, frames.mode) == ("frames", InputMode.ALL)
    assert not step.takes_as_they_come
    assert (step.cross, step.inputs_that_come) == ([], [])


def test_each_with_each_is_written_in_the_order_of_the_template() -> None:
    text = edited(("dotproduct", "flat_crossproduct"), ("[cut, word]", "[word, cut]"), text=SWEEP)
    (step,) = plan_of(text).steps
    assert step.cross == ["word", "cut"]
    assert sorted(step.needs.items) == ["cut", "word"]
    (step,) = plan_of(edited(("dotproduct", "flat_crossproduct"), text=GRAPH)).steps[2:3]
    assert (step.cross, step.takes_as_they_come) == (["before", "after"], False)
