"""Options of `sluice cwl-runner` work as with cwltool, or are refused by name."""

import itertools
import json
import os
import re
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from cwltool.argparser import arg_parser

from sluice.cwl_runner.options import (
    SUPPORTED_OPTIONS,
    UNSUPPORTED_OPTIONS,
    UNSUPPORTED_VALUES,
    UnsupportedOption,
    parse,
)
from tests.cwl_runner.runners import (
    PROGRAMS,
    TOOL,
    Run,
    make_echo_tool,
    read_outputs,
    require_same_answers,
    run_in,
    write_document,
)

pytestmark = pytest.mark.xdist_group("cwl-runner")

CASES = Path(__file__).parent / "cases"
DOCUMENTS = Path(__file__).parents[2] / "docs" / "how-to" / "run-any-cwl.md"


@pytest.mark.parametrize(
    ("options", "terminal", "coloured"),
    [
        ([], False, False),
        ([], True, True),
        (["--enable-color"], False, True),
        (["--disable-color"], True, False),
    ],
)
def test_messages_have_colours_only_at_a_terminal_or_on_request(
    options: list[str], terminal: bool, coloured: bool, tmp_path: Path
) -> None:
    document = tmp_path / "wrong.cwl"
    document.write_text(json.dumps(TOOL | {"inputs": {"name": "no-type"}}))
    actual, expected = os.openpty() if terminal else os.pipe()
    program = str(PROGRAMS / "sluice-cwl-runner")
    command = [program, "--home", str(tmp_path / "home"), *options, str(document)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stderr=expected, check=False)
    os.close(expected)
    output = b""
    with suppress(OSError):  # a terminal without a writer
        while piece := os.read(actual, 1 << 16):
            output += piece
    os.close(actual)
    assert done.returncode == 1
    assert b"no-type" in output
    assert (b"\x1b[" in output) is coloured


@pytest.mark.parametrize("name", ["--n", "--t", "--re"])
def test_prefix_of_an_option_may_be_the_name_of_an_input(name: str) -> None:
    arguments = parse(["--quiet", "tool.cwl", name, "7"], extra_options=[])
    assert (arguments.workflow, arguments.job_order) == ("tool.cwl", [name, "7"])


def _write_workflow(folder: Path) -> str:
    """Write a workflow with two consecutive steps and a parallel one."""
    line = {"line": {"type": "string", "inputBinding": {}}}
    outputs = {
        "out": {
            "type": "string",
            "outputBinding": {
                "glob": "out.txt",
                "loadContents": True,
                "outputEval": "$(self[0].contents)",
            },
        }
    }
    document = {
        "cwlVersion": "v1.2",
        "class": "Workflow",
        "inputs": {"word": {"type": "string", "default": "beam"}},
        "outputs": {
            name: {"type": "string", "outputSource": f"{name}/out"} for name in ("second", "beside")
        },
        "steps": {
            "first": {
                "run": make_echo_tool("1", inputs=line, outputs=outputs),
                "in": {"line": "word"},
                "out": ["out"],
            },
            "second": {
                "run": make_echo_tool("2", inputs=line, outputs=outputs),
                "in": {"line": "first/out"},
                "out": ["out"],
            },
            "beside": {
                "run": make_echo_tool("3", inputs=line, outputs=outputs),
                "in": {"line": "word"},
                "out": ["out"],
            },
        },
    }
    return write_document(folder, "workflow.cwl", document)


def _write_failing_workflow(folder: Path) -> str:
    """Write a workflow with a step that fails, and three consecutive steps beside it."""
    fails = TOOL | {"baseCommand": "false", "outputs": {}}
    step_order = make_echo_tool("x", inputs={"before": "File?"})
    chain = {
        f"step{n}": {
            "run": step_order,
            "in": {"before": f"step{n - 1}/out"} if n else {},
            "out": ["out"],
        }
        for n in range(3)
    }
    document = {
        "cwlVersion": "v1.2",
        "class": "Workflow",
        "inputs": {},
        "outputs": {"last": {"type": "File?", "outputSource": "step2/out"}},
        "steps": {"fails": {"run": fails, "in": {}, "out": []}, **chain},
    }
    return write_document(folder, "stops.cwl", document)


def test_every_option_of_cwltool_is_supported_or_refused() -> None:
    """New options of another version need a decision."""
    known_options = {action.dest for action in arg_parser()._actions}
    assert set(UNSUPPORTED_OPTIONS) | SUPPORTED_OPTIONS == known_options
    assert not set(UNSUPPORTED_OPTIONS) & SUPPORTED_OPTIONS
    assert {dest for dest, _ in UNSUPPORTED_VALUES} <= SUPPORTED_OPTIONS


def _make_arguments(action: Any) -> list[str]:
    """Return the option, with a value other than the default if it takes one."""
    if action.nargs == 0:
        return [action.option_strings[0]]
    return [action.option_strings[0], "61" if action.type is float else "something"]


REFUSED_OPTIONS = [
    _make_arguments(action)
    for action in arg_parser()._actions
    if action.dest in UNSUPPORTED_OPTIONS
    and not (action.nargs == 0 and action.const == action.default)
]


@pytest.mark.parametrize(
    "option", [*REFUSED_OPTIONS, ["--leave-outputs"], ["--udocker"]], ids=lambda option: option[0]
)
def test_unsupported_option_is_refused_by_name_and_documented(option: list[str]) -> None:
    with pytest.raises(UnsupportedOption, match=re.escape(f"{option[0]} is not supported: ")):
        parse([*option, "tool.cwl"], extra_options=[])
    assert f"`{option[0]}`" in DOCUMENTS.read_text()


@pytest.mark.parametrize(
    "option", ["--rm-tmpdir", "--rm-container", "--enable-pull", "--move-outputs", "--copy-outputs"]
)
def test_option_for_the_default_behaviour_is_accepted(option: str) -> None:
    assert parse([option, "tool.cwl"], extra_options=[]).workflow == "tool.cwl"


def test_refused_option_starts_no_system(tmp_path: Path) -> None:
    command = ["sluice-cwl-runner", "--home", str(tmp_path / "home"), "--cachedir", "c"]
    done = run_in(tmp_path, command, ["tool.cwl"], {})
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr == "sluice: --cachedir is not supported: nothing is taken from an earlier run\n"
    )
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    "options",
    [
        ["--validate", "--quiet", "--disable-color"],
        ["--print-targets"],
        ["--make-template"],
        ["--print-subgraph", "--target", "beside"],
        ["--print-dot"],
    ],
    ids=lambda options: options[0],
)
def test_option_that_runs_nothing_needs_no_system(options: list[str], tmp_path: Path) -> None:
    workflow = _write_workflow(tmp_path)
    expected = run_in(tmp_path, ["cwltool"], [*options, workflow], {})
    actual = run_in(
        tmp_path, ["sluice-cwl-runner", "--home", str(tmp_path / "home")], [*options, workflow], {}
    )
    require_same_answers([expected, actual])
    assert not (tmp_path / "home").exists()


def test_validation_checks_the_job_order_too(run_both: Run, tmp_path: Path) -> None:
    order = write_document(tmp_path, "order.json", {"word": 3})
    answers = run_both(
        "--validate", "--no-warnings", "--disable-color", _write_workflow(tmp_path), order
    )
    assert "the value is not string" in require_same_answers(answers, status=1)


def test_expression_of_the_next_step_has_all_fields_of_a_file(
    run_both: Run, tmp_path: Path
) -> None:
    file_output = {"out": {"type": "File", "outputBinding": {"glob": "words.t0"}}}
    first = {"class": "CommandLineTool", "baseCommand": ["touch", "words.t0"]}
    line = {"line": {"type": "string", "inputBinding": {}}}
    text_output = {"out": {"type": "string", "outputBinding": {"outputEval": "$(inputs.line)"}}}
    line_source = {"source": "first/out", "valueFrom": "$(self.nameroot) $(self.nameext)"}
    document = {
        "cwlVersion": "v1.2",
        "class": "Workflow",
        "requirements": {"StepInputExpressionRequirement": {}},
        "inputs": {},
        "outputs": {"said": {"type": "string", "outputSource": "second/out"}},
        "steps": {
            "first": {
                "run": {**first, "inputs": {}, "outputs": file_output},
                "in": {},
                "out": ["out"],
            },
            "second": {
                "run": make_echo_tool(inputs=line, outputs=text_output),
                "in": {"line": line_source},
                "out": ["out"],
            },
        },
    }
    outputs = require_same_answers(run_both(write_document(tmp_path, "names.cwl", document)))
    assert outputs == {"said": "words .t0"}


def test_target_option_makes_one_output(run_both: Run, tmp_path: Path) -> None:
    assert require_same_answers(run_both("--target", "beside", _write_workflow(tmp_path))) == {
        "beside": "3 beam\n"
    }


def test_single_step_option_runs_one_step(run_both: Run, tmp_path: Path) -> None:
    outputs = require_same_answers(
        run_both(
            "--single-step",
            "first",
            _write_workflow(tmp_path),
            write_document(tmp_path, "order.json", {"line": "x"}),
        )
    )
    assert outputs == {"out": "1 x\n"}


def test_overrides_option_changes_requirements(run_both: Run, tmp_path: Path) -> None:
    tool = write_document(tmp_path, "tool.cwl", TOOL | {"baseCommand": ["sh", "-c", "echo $WORD"]})
    overrides = {
        "cwltool:overrides": {
            tool: {"requirements": {"EnvVarRequirement": {"envDef": {"WORD": "overridden"}}}}
        }
    }
    answers = run_both("--overrides", write_document(tmp_path, "overrides.json", overrides), tool)
    assert require_same_answers(answers)["out"]["size"] == len("overridden\n")


def test_extensions_can_be_enabled(run_both: Run, tmp_path: Path) -> None:
    """The loop is not part of CWL v1.2."""
    step = {
        "run": {
            "class": "ExpressionTool",
            "inputs": {"n": "int"},
            "outputs": {"m": "int"},
            "expression": "${return {m: inputs.n + 1};}",
        },
        "in": {"n": "start"},
        "out": ["m"],
        "requirements": {
            "cwltool:Loop": {
                "loopWhen": "$(inputs.n < 5)",
                "loop": {"n": "m"},
                "outputMethod": "last",
            }
        },
    }
    document = {
        "cwlVersion": "v1.2",
        "$namespaces": {"cwltool": "http://commonwl.org/cwltool#"},
        "class": "Workflow",
        "requirements": {"InlineJavascriptRequirement": {}},
        "inputs": {"start": "int"},
        "outputs": {"m": {"type": "int", "outputSource": "count/m"}},
        "steps": {"count": step},
    }
    assert require_same_answers(
        run_both("--enable-ext", write_document(tmp_path, "loop.cwl", document), "--start", "1")
    ) == {"m": 5}


def test_run_continues_after_an_error_on_request(run_both: Run, tmp_path: Path) -> None:
    outputs = require_same_answers(
        run_both("--on-error", "continue", _write_failing_workflow(tmp_path)), status=1
    )
    assert outputs["last"] is not None


def test_run_starts_no_more_steps_after_an_error(url: str, tmp_path: Path) -> None:
    """There is no comparison with cwltool, as it shuffles the steps."""
    done = run_in(
        tmp_path,
        ["sluice-cwl-runner", "--url", url],
        ["--parallel-max", "1", _write_failing_workflow(tmp_path)],
        {},
    )
    assert (done.returncode, read_outputs(done)) == (1, {"last": None}), done.stderr


def test_parallel_max_bounds_the_concurrent_jobs(url: str, tmp_path: Path) -> None:
    """Each tool counts for a while and prints when it began and ended."""
    counts = (
        "read begun rest < /proc/uptime; n=0; while [ $n -lt 200000 ]; do n=$((n+1)); done;"
        " read ended rest < /proc/uptime; echo $begun $ended"
    )
    tool = TOOL | {
        "baseCommand": ["sh", "-c", counts],
        "inputs": {"n": {"type": "int", "inputBinding": {}}},
    }
    document = {
        "cwlVersion": "v1.2",
        "class": "Workflow",
        "requirements": {"ScatterFeatureRequirement": {}},
        "inputs": {"n": "int[]"},
        "outputs": {"times": {"type": "File[]", "outputSource": "count/out"}},
        "steps": {"count": {"run": tool, "scatter": "n", "in": {"n": "n"}, "out": ["out"]}},
    }
    workflow = write_document(tmp_path, "count.cwl", document)
    order = write_document(tmp_path, "order.json", {"n": [1, 2, 3]})
    done = run_in(
        tmp_path, ["sluice-cwl-runner", "--url", url], ["--parallel-max", "1", workflow, order], {}
    )
    assert done.returncode == 0, done.stderr
    times = sorted(
        [float(time) for time in Path(file["path"]).read_text().split()]
        for file in json.loads(done.stdout)["times"]
    )
    assert len(times) == 3
    assert all(ended <= next_start for (_, ended), (next_start, _) in itertools.pairwise(times))


def test_named_environment_variables_are_preserved(run_both: Run, tmp_path: Path) -> None:
    tool = write_document(
        tmp_path, "tool.cwl", TOOL | {"baseCommand": ["sh", "-c", "echo $FIRST $SECOND"]}
    )
    outputs = require_same_answers(
        run_both("--preserve-environment", "FIRST", tool, FIRST="eins", SECOND="zwei")
    )
    assert outputs["out"]["size"] == len("eins\n")


def test_summary_is_written_to_a_file(run_both: Run, tmp_path: Path) -> None:
    expected, actual = run_both(
        "--write-summary", "summary.json", write_document(tmp_path, "tool.cwl", make_echo_tool("x"))
    )
    assert (actual.returncode, actual.stdout) == (expected.returncode, expected.stdout) == (0, "")
    assert (
        json.loads((tmp_path / "sluice-cwl-runner" / "summary.json").read_text())["out"]["size"]
        == 2
    )


@pytest.mark.parametrize(("kind", "status"), [("hints", 0), ("requirements", 33)])
def test_containers_can_be_disabled(run_both: Run, tmp_path: Path, kind: str, status: int) -> None:
    tool = write_document(
        tmp_path,
        "tool.cwl",
        make_echo_tool("x", **{kind: {"DockerRequirement": {"dockerPull": "nowhere/such:1"}}}),
    )
    answers = run_both("--no-container", tool)
    outputs = require_same_answers(answers, status=status)
    if kind == "hints":
        assert outputs["out"]["size"] == len("x\n")
    else:
        assert all("--no-container" in answer.stderr for answer in answers)
