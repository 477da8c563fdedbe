"""Plans of steps that scatter over values, cross products, and file parameters."""

from sluice.contracts.common.states import EntryKind, InputMode, TaskMode
from sluice.contracts.templates.plan import (
    Constant,
    DataEntries,
    ParameterRef,
    Retention,
    SecondaryFile,
    Source,
)
from sluice.cwl import compile_template
from tests.unit.cwl.samples import GRAPH, OF_VALUES, compile_plan, edit_text

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


def test_step_over_values_has_the_lists_as_arguments() -> None:
    """The step belongs to the data set, but its jobs get no file of it from the scatter."""
    (step,) = compile_plan(SWEEP).steps
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
    assert not step.can_stream
    assert (step.cross, step.streamed_inputs) == ([], [])


def test_cross_product_keeps_the_order_of_the_scatter() -> None:
    text = edit_text(
        ("dotproduct", "flat_crossproduct"), ("[cut, word]", "[word, cut]"), text=SWEEP
    )
    (step,) = compile_plan(text).steps
    assert step.cross == ["word", "cut"]
    assert sorted(step.needs.items) == ["cut", "word"]
    (step,) = compile_plan(edit_text(("dotproduct", "flat_crossproduct"), text=GRAPH)).steps[2:3]
    assert (step.cross, step.can_stream) == (["before", "after"], False)


PAIRS = """\
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}}
inputs: {frames: "File[]", mates: "File[]", words: "string[]"}
outputs: {all: {type: "File[]", outputSource: pair/said}}
steps:
  pair:
    scatter: [frame, mate]
    scatterMethod: dotproduct
    in: {frame: frames, mate: mates}
    out: [said]
    run:
      class: CommandLineTool
      baseCommand: echo
      inputs: {frame: File, mate: File}
      outputs: {said: stdout}
      requirements: {ToolTimeLimit: {timelimit: 10}}
"""


def test_first_file_list_is_the_data_set_and_others_are_parameters() -> None:
    plan = compile_plan(PAIRS)
    assert (plan.data_input, plan.dataset_parameters) == ("frames", ["mates"])
    assert plan.parameters["mates"].required
    (step,) = plan.steps
    assert step.by_place, "each data set has its own numbers"
    assert not step.can_stream
    assert [step_input.source.port for step_input in step.inputs] == ["frames", "mates"]


def test_step_may_read_only_a_data_set_parameter() -> None:
    alone = edit_text(
        ("scatter: [frame, mate]\n    scatterMethod: dotproduct", "scatter: mate"),
        ("{frame: frames, mate: mates}", "{mate: mates}"),
        ("{frame: File, mate", "{mate"),
        text=PAIRS,
    )
    (step,) = compile_plan(alone).steps
    assert (step.main_input.source, step.main_input.mode) == (
        Source(step=None, port="mates"),
        InputMode.EACH,
    )
    assert not step.by_place


def test_template_with_only_values_has_no_data_set() -> None:
    """The placeholder of the data set is kept, so that a chain can run again."""
    plan = compile_plan(OF_VALUES)
    assert (plan.data_input, plan.takes_dataset) == ("", False)
    assert set(plan.parameters) == {"cuts", "note", "words"}
    assert plan.retention == Retention(input="keep", logs="delete")
    template_text = edit_text(
        ("requirements:", "$namespaces: {sluice: 'urn:sluice:cwl:'}\nrequirements:"),
        ("inputs:", "sluice:retention: {logs: keep}\ninputs:"),
        text=OF_VALUES,
    )
    assert compile_plan(template_text).retention == Retention(input="keep", logs="keep")


def test_step_without_data_set_runs_once() -> None:
    """Its job gets an optional file parameter."""
    plan = compile_plan(OF_VALUES)
    sweep, once, join = plan.steps
    nothing = Source(step=None, port="")
    assert (sweep.main_input.source, sweep.main_input.mode) == (nothing, InputMode.NONE)
    assert (sweep.single, sweep.needs.items) == (False, ["cut"])
    assert (once.main_input.source, once.main_input.mode) == (nothing, InputMode.NONE)
    assert (once.single, once.mode, once.can_stream) == (True, TaskMode.MAP, False)
    assert [
        (step_input.port, step_input.mode, step_input.optional) for step_input in once.inputs[1:]
    ] == [("words", InputMode.ONE, True)]
    assert (join.mode, join.single) == (TaskMode.MERGE, False)


#: Parameters that are files and directories, with the requirements on each.
OF_FILES = """\
cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}}
inputs:
  frames: File[]
  tree: Directory?
  bam: {type: File, secondaryFiles: [.bai, "^.md?"]}
  trees: Directory[]
  bams: {type: "File[]", secondaryFiles: .bai}
  words: {type: File, default: {class: File, basename: words.txt, contents: "a\\n"}}
outputs:
  all: {type: "File[]", outputSource: try/said}
  one: {type: "File[]", outputSource: each/said}
steps:
  try:
    scatter: frame
    in: {frame: frames, tree: tree, bam: bam, bams: bams, words: words}
    out: [said]
    run:
      class: CommandLineTool
      baseCommand: echo
      inputs:
        frame: File
        tree: Directory?
        bam: {type: File, secondaryFiles: [.bai]}
        bams: File[]
        words: File
      outputs: {said: stdout}
      requirements: {ToolTimeLimit: {timelimit: 10}}
  each:
    scatter: tree
    in: {tree: trees}
    out: [said]
    run:
      class: CommandLineTool
      baseCommand: echo
      inputs: {tree: Directory}
      outputs: {said: stdout}
      requirements: {ToolTimeLimit: {timelimit: 10}}
"""


def test_parameters_describe_the_entries_of_their_data_sets() -> None:
    """The person who uploads the files needs the description; plain files have none."""
    plan = compile_plan(OF_FILES)
    directory = DataEntries(type="Directory")
    assert {name: parameter.entries for name, parameter in plan.parameters.items()} == {
        "tree": directory,
        "bam": DataEntries(
            secondary_files=[
                SecondaryFile(pattern=".bai"),
                SecondaryFile(pattern="^.md", required=False),
            ]
        ),
        "trees": directory,
        "bams": DataEntries(secondary_files=[SecondaryFile(pattern=".bai")]),
        "words": None,
    }
    assert plan.file_parameters == list(plan.parameters)
    assert plan.dataset_parameters == ["trees", "bams"]
    jobs, each = plan.steps
    assert [(step_input.port, step_input.mode, step_input.kind) for step_input in jobs.inputs] == [
        ("frame", InputMode.EACH, EntryKind.FILE),
        ("tree", InputMode.ONE, EntryKind.BUNDLE),
        ("bam", InputMode.ONE, EntryKind.BUNDLE),
        ("bams", InputMode.ALL, EntryKind.BUNDLE),
        ("words", InputMode.ONE, EntryKind.FILE),
    ]
    assert [(step_input.port, step_input.mode, step_input.kind) for step_input in each.inputs] == [
        ("tree", InputMode.EACH, EntryKind.BUNDLE)
    ]


NEEDED = """
cwlVersion: v1.2
class: Workflow
requirements:
  ScatterFeatureRequirement: {}
  StepInputExpressionRequirement: {}
  SubworkflowFeatureRequirement: {}
inputs: {bams: "File[]", genome: File, notes: File, other: File, renamed: File}
outputs: {all: {type: "File[]", outputSource: count/o}}
steps:
  count:
    scatter: bam
    in:
      bam: bams
      genome: genome
      notes: notes
      renamed: {source: renamed, valueFrom: $(self)}
    out: [o]
    run:
      class: CommandLineTool
      baseCommand: count
      inputs:
        bam: {type: File, secondaryFiles: [.bai, ^.md?]}
        genome: {type: File, secondaryFiles: [.fai]}
        notes: {type: File, secondaryFiles: [.log?]}
        renamed: {type: File, secondaryFiles: [.fai]}
      outputs: {o: stdout}
      requirements: {ToolTimeLimit: {timelimit: 10}}
  inside:
    scatter: bam
    in: {bam: bams, ref: other}
    out: []
    run:
      class: Workflow
      inputs: {ref: File, bam: File}
      outputs: {}
      steps:
        read:
          in: {ref: ref}
          out: []
          run:
            class: CommandLineTool
            baseCommand: read
            inputs: {ref: {type: File, secondaryFiles: [^.dict]}}
            outputs: {}
"""


def test_inputs_have_the_secondary_files_that_tools_need() -> None:
    """A pattern that no tool requires does not change the kind of the entries."""
    compiled = compile_template(NEEDED, name="t")
    plan = compiled.plan
    assert plan is not None, compiled.findings
    declared = {"bams": plan.data_entries} | {
        name: parameter.entries for name, parameter in plan.parameters.items()
    }
    patterns = {
        name: [(file.pattern, file.required) for file in entries.secondary_files]
        for name, entries in declared.items()
        if entries is not None
    }
    assert patterns == {
        "bams": [(".bai", True), ("^.md", False)],
        "genome": [(".fai", True)],
        "other": [("^.dict", True)],
    }
    warned = [one for one in compiled.warnings if "because tools need them" in one.message]
    assert len(warned) == 3


def test_default_file_is_an_argument_of_its_steps() -> None:
    """A data set that a chain gives for the parameter replaces the default."""
    plan = compile_plan(OF_FILES)
    words = plan.parameters["words"]
    assert (words.required, words.default) == (False, None)
    assert plan.steps[0].arguments == {
        "words": Constant(value={"class": "File", "basename": "words.txt", "contents": "a\n"})
    }
