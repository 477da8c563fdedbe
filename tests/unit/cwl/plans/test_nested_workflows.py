"""Nested workflows that scatter over data become steps of the plan; others stay a single job."""

import pytest

from sluice.contracts.common.states import InputMode, TaskMode
from sluice.contracts.templates.plan import MergeGroups, Plan, Retry, Source
from sluice.cwl import compile_template
from tests.unit.cwl.plans.nested_samples import NESTED, ONE_LIST, WITH_FIELDS
from tests.unit.cwl.samples import edit_text, remove_marks


def compile_plan(text: str) -> Plan:
    compiled = compile_template(text, name="t")
    assert compiled.plan is not None, "\n".join(map(str, compiled.findings))
    assert compiled.findings == []
    return compiled.plan


def test_steps_of_a_nested_workflow_become_steps_of_the_plan() -> None:
    plan = compile_plan(NESTED)
    assert [(step.name, step.mode) for step in plan.steps] == [
        ("inside.top", TaskMode.MAP),
        ("last", TaskMode.MERGE),
        ("inside.deep.tails", TaskMode.MAP),
        ("inside.deep.join", TaskMode.MERGE),
    ], "the steps are not in the order of the data flow"
    assert plan.step("last").sources == [
        Source(step="inside.top", port="cut"),
        Source(step=None, port="texts"),
    ]
    assert [(output.name, output.step) for output in plan.outputs][:2] == [
        ("page", "inside.deep.join"),
        ("cut", "inside.top"),
    ]


def test_extension_fields_of_a_nested_workflow_apply_to_its_steps() -> None:
    edits = (
        WITH_FIELDS,
        (
            "    out: [page, cut, same]\n",
            "    out: [page, cut, same]\n    sluice:rank: 7\n    sluice:retry: {attempts: 9}\n",
        ),
        ("          out: [cut]\n", "          out: [cut]\n          sluice:rank: 2\n"),
        (
            "              join:\n",
            "              join:\n                sluice:merge: {files: 2}\n",
        ),
    )
    plan = compile_plan(edit_text(*edits, text=NESTED))
    top, tails, join = (plan.step(f"inside.{name}") for name in ("top", "deep.tails", "deep.join"))
    assert [step.rank for step in (plan.step("last"), top, tails, join)] == [1.0, 2.0, 7.0, 7.0]
    assert (top.retry, plan.step("last").retry, join.groups) == (
        Retry(attempts=9),
        Retry(),
        MergeGroups(files=2),
    )


def test_dots_in_step_names_are_not_nesting() -> None:
    join = "              join:\n"
    edits = (WITH_FIELDS, (join, f"{join}                sluice:rank: 7\n"))
    name = "i.n.s.i.d.e.v1.2.3.4"
    plan = compile_plan(edit_text(*edits, text=NESTED).replace("inside", name))
    assert plan.step(f"{name}.deep.join").rank == 7.0


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        (
            [WITH_FIELDS, ("  inside:\n", "  ¦inside:\n    sluice:merge: {files: 2}\n")],
            "as separate steps: it has 'sluice:merge', which is for one task",
        ),
        (
            [
                ("  inside:\n", "  ¦inside:\n"),
                ("        count: int\n", "        count: {type: int, loadContents: true}\n"),
            ],
            "as separate steps: an input of its workflow has 'loadContents'",
        ),
    ],
)
def test_nested_workflow_that_stays_one_job_gives_a_warning(
    edits: list[tuple[str, str]], message: str
) -> None:
    text, places = remove_marks(edit_text(*edits, ONE_LIST, text=NESTED))
    compiled = compile_template(text, name="t")
    assert compiled.plan is not None, compiled.findings
    (warning,) = [
        warning for warning in compiled.warnings if "runs inside one job" in warning.message
    ]
    assert (warning.line, warning.column) == places[0]
    assert message in warning.message
    assert [step.name for step in compiled.plan.steps] == ["inside", "last"]


NOTE = """\
        note:
          in: {count: count}
          out: [said]
          run:
            class: CommandLineTool
            baseCommand: echo
            inputs: {count: {type: int, inputBinding: {}}}
            outputs: {said: stdout}
            requirements: {ToolTimeLimit: {timelimit: 60}}
        top:
"""


def test_nested_step_without_data_runs_once() -> None:
    plan = compile_template(edit_text(("        top:\n", NOTE), text=NESTED), name="t").plan
    assert plan is not None
    note = plan.step("inside.note")
    assert note.single
    assert (note.main_input.mode, note.main_input.source.port) == (InputMode.NONE, plan.data_input)


#: Allows expressions of steps.
EXPRESSIONS = (
    "requirements: {Scatter",
    "requirements: {StepInputExpressionRequirement: {}, Scatter",
)
COUNT = "in: {files: texts, count: count}"


@pytest.mark.parametrize(
    ("edits", "because"),
    [
        ([("    in: {files", "    ¦when: $(inputs.count)\n    in: {files")], "'when'"),
        (
            [(COUNT, "in: {files: texts, count: {source: count, ¦valueFrom: $(self)}}")],
            "'valueFrom' of 'count'",
        ),
        (
            [(COUNT, "in: {files: {source: texts, ¦loadContents: true}, count: count}")],
            "'loadContents' of 'files'",
        ),
        (
            [
                (
                    "          in: {parts: top/cut",
                    "          ¦when: $(inputs.tail)\n          in: {parts: top/cut",
                )
            ],
            "'when'",
        ),
    ],
)
def test_expression_that_keeps_a_nested_workflow_in_one_job_gives_a_warning(
    edits: list[tuple[str, str]], because: str
) -> None:
    text, places = remove_marks(
        edit_text(
            *edits,
            EXPRESSIONS,
            ONE_LIST,
            ("page: {type: File,", "page: {type: File?,"),
            text=NESTED,
        )
    )
    compiled = compile_template(text, name="t")
    assert compiled.plan is not None, compiled.findings
    (warning,) = [
        warning for warning in compiled.warnings if "runs inside one job" in warning.message
    ]
    assert (warning.line, warning.column) == places[0]
    assert (
        f"scatters over data and runs inside one job, because of {because}: write that at its steps"
        in warning.message
    )


OVER_WORDS = """\
cwlVersion: v1.2
class: Workflow
requirements:
  {ScatterFeatureRequirement: {}, SubworkflowFeatureRequirement: {},
    StepInputExpressionRequirement: {}}
inputs: {texts: "File[]", words: "string[]"}
outputs: {found: {type: File, outputSource: inside/found}}
steps:
  inside:
    in: {texts: texts, words: {source: words, valueFrom: $(self)}}
    out: [found]
    run:
      class: Workflow
      inputs: {texts: "File[]", words: "string[]"}
      outputs: {found: {type: File, outputSource: join/found}}
      steps:
        echo:
          scatter: word
          in: {word: words}
          out: [said]
          run: {class: CommandLineTool, baseCommand: echo, inputs: {word: string},
            outputs: {said: stdout}}
        join:
          in: {texts: texts, said: echo/said}
          out: [found]
          run: {class: CommandLineTool, baseCommand: cat, inputs: {texts: "File[]", said: "File[]"},
            outputs: {found: stdout}}
"""


@pytest.mark.parametrize(
    ("edits", "warning_count"),
    [
        ([], 0),
        (
            [
                (
                    "scatter: word\n          in: {word: words}",
                    "scatter: text\n          in: {text: texts}",
                ),
                ("{word: string}", "{text: File}"),
            ],
            1,
        ),
    ],
)
def test_nested_workflow_warns_only_where_it_scatters_over_data(
    edits: list[tuple[str, str]], warning_count: int
) -> None:
    compiled = compile_template(edit_text(*edits, text=OVER_WORDS), name="t")
    assert compiled.plan is not None, compiled.findings
    assert (
        len([warning for warning in compiled.warnings if "runs inside one job" in warning.message])
        == warning_count
    )


def test_errors_in_a_nested_workflow_keep_their_place() -> None:
    text, places = remove_marks(
        edit_text(
            (
                "              file: {type: File, inputBinding",
                "              file: {type: ¦Fil, inputBinding",
            ),
            text=NESTED,
        )
    )
    compiled = compile_template(text, name="t")
    assert compiled.plan is None
    assert places[0][0] in {error.line for error in compiled.errors}
