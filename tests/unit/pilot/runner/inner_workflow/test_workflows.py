"""Tests of jobs that run an inner workflow or an expression in a real slot process, with the same
limits as tools."""

import json
import sys
import uuid
from pathlib import Path
from typing import Any

import psutil
import pytest

from sluice.contracts.common.states import AttemptOutcome, ErrorClass, TaskMode
from sluice.contracts.jobs.needs import Resources
from sluice.cwl_values.cwltool_exceptions import SCATTER_OVER_NULL
from tests.processes import list_running_with, read_command_line
from tests.unit.pilot import attempts
from tests.unit.pilot.attempts import get_error, read_log, run
from tests.unit.pilot.builders import make_job, make_output, make_task, make_tool, write_input
from tests.unit.pilot.inner_workflows import wrap_in_workflow
from tests.unit.pilot.job_pipes import make_waiting_code, release_tool, wait_for
from tests.unit.pilot.sandboxes import get_sandbox
from tests.unit.pilot.slot_runner import Runner, has_ended
from tests.waiting import wait_until

#: A word in the command lines of tools that wait.
_WAITS = str(uuid.uuid4())


def make_python_step(code: str) -> dict[str, Any]:
    return make_tool([sys.executable, "-c", code.replace("$(", "\\$(")])


def make_waiting_tool() -> dict[str, Any]:
    """Return a tool that waits at ``gate``."""
    return make_tool([sys.executable, "-c", make_waiting_code("gate"), _WAITS])


def wait_for_waiting_tools(runner: Runner) -> list[int]:
    """Wait for such a tool and return the process IDs of all of them."""
    wait_for(runner, "gate")
    return list_running_with(_WAITS)


def test_inner_workflow_runs_its_tools_in_order(runner: Runner, root: Path) -> None:
    second = wrap_in_workflow(make_tool(["tr", "a-z", "A-Z"], stdin="$(inputs.f.path)"))
    second["steps"]["again"] = {
        "in": {"f": "run/o"},
        "out": ["o"],
        "run": make_tool(["rev"], stdin="$(inputs.f.path)"),
    }
    second["outputs"]["o"]["outputSource"] = "again/o"
    report = run(
        runner,
        make_task(root, second),
        [write_input(root / "in" / "a.dat", data=b"frame\n")],
        seq=3,
    )
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    [stored] = report.outputs
    assert (stored.name, Path(stored.url.removeprefix("file://")).read_text()) == (
        "00000003.1-a.out",
        "EMARF\n",
    )
    assert report.cpu_seconds


def test_scatter_over_null_is_refused_with_the_reason(runner: Runner, root: Path) -> None:
    of_word = {"f": {"type": "File"}, "w": {"type": "string"}}
    workflow = wrap_in_workflow(make_tool(["true"], inputs=of_word), scatter="w")
    workflow["requirements"].append({"class": "ScatterFeatureRequirement"})
    workflow["inputs"]["words"] = {"type": ["null", {"type": "array", "items": "string"}]}
    workflow["outputs"]["o"]["type"] = "Any"
    workflow["steps"]["run"]["in"]["w"] = {"source": "words"}
    report = run(runner, make_task(root, workflow), [write_input(root / "in" / "a.dat", data=b"")])
    assert get_error(report) == (ErrorClass.TOOL_REFUSED, SCATTER_OVER_NULL)


def test_skipped_step_gives_no_output(runner: Runner, root: Path) -> None:
    skipped_step = wrap_in_workflow(make_python_step("print(1)"), when="$(inputs.f.size > 100)")
    report = run(
        runner,
        make_task(root, skipped_step, outputs=[make_output(root, "o", optional=True)]),
        [write_input(root / "in" / "a.dat")],
    )
    assert (report.outcome, report.outputs) == (AttemptOutcome.FINISHED, [])
    _, message = get_error(
        run(runner, make_task(root, skipped_step), [write_input(root / "in" / "b.dat")])
    )
    assert "wrote no file for its output 'o'" in message


def test_expression_tool_can_choose_one_of_all_files(runner: Runner, root: Path) -> None:
    choosing_tool = {
        "cwlVersion": "v1.2",
        "class": "ExpressionTool",
        "requirements": {"InlineJavascriptRequirement": {}},
        "inputs": {"f": {"type": "File[]"}},
        "outputs": {"o": {"type": "File"}},
        "expression": "${ return {o: inputs.f[1]}; }",
    }
    files = [write_input(root / "in" / name, data=name.encode()) for name in ("x", "y", "z")]
    report = run(runner, make_task(root, choosing_tool, mode=TaskMode.MERGE), files)
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    assert Path(report.outputs[0].url.removeprefix("file://")).read_text() == "y"
    assert (root / "in" / "y").read_text() == "y", "the input stays in its place"


def test_log_has_each_message_of_cwltool_once_and_no_messages_of_the_pilot(
    runner: Runner, root: Path
) -> None:
    process = wrap_in_workflow(
        make_python_step("import sys; print(1); print('by the tool', file=sys.stderr)")
    )
    report = run(runner, make_task(root, process), [write_input(root / "in" / "a.dat")])
    log_lines = read_log(report).partition("--- stderr ---\n")[2].splitlines()
    assert (
        log_lines.count("[workflow ] start") == log_lines.count("[job run] completed success") == 1
    )
    assert log_lines.count("by the tool") == 1
    assert not [line for line in log_lines if "runpy" in line or "pilot.runner" in line]


def test_log_has_the_error_of_a_tool_in_an_inner_workflow(runner: Runner, root: Path) -> None:
    report = run(
        runner,
        make_task(root, wrap_in_workflow(make_python_step("raise SystemExit('no beam')"))),
        [write_input(root / "in" / "a.dat")],
    )
    assert get_error(report)[0] is ErrorClass.TOOL_FAILED
    assert "no beam" in read_log(report)


def test_tool_in_an_inner_workflow_ends_at_the_time_limit(runner: Runner, root: Path) -> None:
    endless = make_task(
        root, wrap_in_workflow(make_waiting_tool()), resources=Resources(time_limit=5.0)
    )
    runner.submit(endless, make_job(endless, [write_input(root / "in" / "a.dat")], job_id=1))
    [pid] = wait_for_waiting_tools(runner)
    assert get_error(runner.wait_for_end().report)[0] is ErrorClass.TOOL_TIMEOUT
    wait_until(lambda: has_ended(pid))


def test_inner_workflow_does_not_see_the_environment_of_the_pilot(
    runner: Runner, root: Path
) -> None:
    """Neither a tool nor an expression that breaks out of its context sees it."""
    code = "import os,json; print(json.dumps(dict(os.environ)))"
    report = run(
        runner,
        make_task(root, wrap_in_workflow(make_python_step(code))),
        [write_input(root / "in" / "a.dat")],
    )
    environment = json.loads(Path(report.outputs[0].url.removeprefix("file://")).read_text())
    assert "SLUICE_SECRET" not in environment
    escape = (
        "${ return JSON.stringify(globalThis.constructor.constructor('return process')().env); }"
    )
    workflow = wrap_in_workflow(
        make_tool(
            ["echo"], inputs={"f": {"type": "File"}, "e": {"type": "string", "inputBinding": {}}}
        )
    )
    workflow["steps"]["run"]["in"]["e"] = {"valueFrom": escape}
    report = run(runner, make_task(root, workflow), [write_input(root / "in" / "b.dat")])
    texts = [Path(file.url.removeprefix("file://")).read_text() for file in report.outputs]
    assert "hush" not in "".join([*texts, read_log(report)])


def list_waiting_processes(runner: Runner) -> list[psutil.Process]:
    """Return the processes of the slot that wait to run a workflow."""
    return [
        child
        for child in psutil.Process(runner.slot_pid).children()
        if read_command_line(child)[:1] == [sys.executable]
    ]


def test_each_inner_workflow_runs_in_a_process_that_was_started_ahead(
    runner: Runner, root: Path
) -> None:
    workflow_task = make_task(root, wrap_in_workflow(make_waiting_tool()))
    pids = [process.pid for process in list_waiting_processes(runner)]
    for number in range(3):
        file = write_input(root / "in" / "a.dat")
        runner.submit(workflow_task, make_job(workflow_task, [file], job_id=2 + number, seq=number))
        [pid] = wait_for_waiting_tools(runner)
        assert pids[-1] in [process.pid for process in psutil.Process(pid).parents()]
        release_tool(runner, "gate")
        assert runner.wait_for_end().report.outcome is AttemptOutcome.FINISHED
        [remaining_process] = list_waiting_processes(runner)
        pids.append(remaining_process.pid)
    assert len(set(pids)) == 4


def test_inner_workflow_runs_if_the_process_started_ahead_was_killed(
    runner: Runner, root: Path
) -> None:
    for process in list_waiting_processes(runner):
        process.kill()
    for number in range(2):
        report = run(
            runner,
            make_task(root, wrap_in_workflow(make_python_step("print(1)"))),
            [write_input(root / "in" / "a.dat")],
            seq=number,
        )
        assert report.outcome is AttemptOutcome.FINISHED, report.message


SPEAKS = make_tool(["sh", "-c", "echo first >&2; echo the header is damaged >&2; exit 3"])


@pytest.mark.parametrize(
    ("executable", "error_class", "exit_code", "message"),
    [
        (SPEAKS, ErrorClass.TOOL_FAILED, 3, "'sh' ended with exit code 3: the header is damaged"),
        (
            SPEAKS | {"permanentFailCodes": [3]},
            ErrorClass.TOOL_REFUSED,
            3,
            "'sh' ended with exit code 3: the header is damaged",
        ),
        (
            SPEAKS | {"stderr": "said"},
            ErrorClass.TOOL_FAILED,
            3,
            "'sh' ended with exit code 3: the header is damaged",
        ),
        (
            make_tool(["sh", "-c", "exit 4"]),
            ErrorClass.TOOL_FAILED,
            4,
            "'sh' ended with exit code 4",
        ),
        (
            make_tool(["sh", "-c", "kill -11 $$"]),
            ErrorClass.TOOL_FAILED,
            -11,
            "'sh' was killed by SIGSEGV",
        ),
        (
            make_tool(["sleep", "600"], requirements={"ToolTimeLimit": {"timelimit": 1}}),
            ErrorClass.TOOL_TIMEOUT,
            -15,
            "ran longer than its limit of 1 s and was ended",
        ),
        (
            SPEAKS
            | {
                "successCodes": [3],
                "outputs": {"o": {"type": "File", "outputBinding": {"glob": "*.root"}}},
            },
            ErrorClass.TOOL_FAILED,
            1,
            "the tool wrote no file for output 'o': nothing matches ['*.root']",
        ),
    ],
)
def test_failure_in_an_inner_workflow_is_reported_like_that_of_a_tool(
    runner: Runner,
    root: Path,
    executable: dict[str, Any],
    error_class: ErrorClass,
    exit_code: int,
    message: str,
) -> None:
    workflow = wrap_in_workflow(executable, when="$(inputs.f.size > 1)")
    report = run(runner, make_task(root, workflow), [write_input(root / "in" / "a.dat")])
    assert (*get_error(report), report.exit_code) == (error_class, message, exit_code)


def test_message_names_the_step_that_failed(runner: Runner, root: Path) -> None:
    workflow = wrap_in_workflow(make_tool(["sh", "-c", "echo fine >&2; echo 1"]))
    workflow["steps"]["again"] = {"in": {"f": "run/o"}, "out": ["o"], "run": SPEAKS}
    workflow["outputs"]["o"]["outputSource"] = "again/o"
    report = run(runner, make_task(root, workflow), [write_input(root / "in" / "a.dat")])
    assert (
        get_error(report)[1] == "step 'again': 'sh' ended with exit code 3: the header is damaged"
    )
    assert "fine" in read_log(report)


def test_step_whose_input_has_another_type_is_refused_with_the_reason(
    runner: Runner, root: Path
) -> None:
    words = {"f": {"type": "File"}, "w": {"type": "string"}}
    workflow = wrap_in_workflow(make_tool(["true"], inputs=words))
    workflow["steps"]["run"]["in"]["w"] = {"valueFrom": "$(3)"}
    report = run(runner, make_task(root, workflow), [write_input(root / "in" / "a.dat")])
    assert get_error(report) == (
        ErrorClass.TOOL_REFUSED,
        "the job could not be set up: Invalid job input record: the 'w' field is not valid because"
        " the value is not string",
    )


def test_failed_expression_is_reported_alike_without_a_process_started_ahead(
    runner: Runner, root: Path
) -> None:
    workflow = wrap_in_workflow(SPEAKS)
    workflow["steps"]["run"]["in"]["f"]["valueFrom"] = "${ throw 'no such calibration'; }"
    failures = []
    for number in range(2):
        report = run(
            runner, make_task(root, workflow), [write_input(root / "in" / "a.dat")], seq=number
        )
        failures.append(get_error(report))
        assert "Traceback" not in read_log(report)
        for process in list_waiting_processes(runner):
            process.kill()
    assert failures == 2 * [
        (
            ErrorClass.TOOL_REFUSED,
            "the job could not be set up: Expression evaluation error: the expression"
            " ${ throw 'no such calibration'; } failed: no such calibration",
        )
    ]


def test_failure_outside_of_a_tool_has_a_message(runner: Runner, root: Path) -> None:
    workflow = wrap_in_workflow(make_tool(["no-such-program"]))
    report = run(runner, make_task(root, workflow), [write_input(root / "in" / "a.dat")])
    error_class, message = get_error(report)
    assert (error_class, "'no-such-program' was not found on this node's PATH" in message) == (
        ErrorClass.TOOL_FAILED,
        True,
    ), message
    assert report.exit_code == 127
    expression = {
        "cwlVersion": "v1.2",
        "class": "ExpressionTool",
        "requirements": {"InlineJavascriptRequirement": {}},
        "inputs": {"f": {"type": "File"}},
        "outputs": {"o": {"type": "File"}},
        "expression": "${ throw 'no such run'; }",
    }
    error_class, message = get_error(
        run(runner, make_task(root, expression), [write_input(root / "in" / "a.dat")])
    )
    assert (error_class, "no such run" in message) == (ErrorClass.TOOL_FAILED, True), message


def test_only_a_tool_with_in_place_updates_can_change_its_inputs(
    tmp_path: Path, root: Path
) -> None:
    """The next tool of the workflow can only read the changed file."""
    change = attempts.make_python_tool(
        "import sys; open(sys.argv[1], 'a').write('changed')",
        requirements={
            "InlineJavascriptRequirement": {},
            "InplaceUpdateRequirement": {"inplaceUpdate": True},
            "InitialWorkDirRequirement": {"listing": [{"entry": "$(inputs.f)", "writable": True}]},
        },
        outputs={"o": {"type": "File", "outputBinding": {"glob": "$(inputs.f.basename)"}}},
    )
    say = attempts.make_python_tool(
        "import os, sys; print(open(sys.argv[1]).read(), os.access(sys.argv[1], os.W_OK))"
    )
    for part in (change, say):
        del part["cwlVersion"]
    workflow = {
        "cwlVersion": "v1.2",
        "class": "Workflow",
        "inputs": {"f": "File"},
        "outputs": {"o": {"type": "File", "outputSource": "say/o"}},
        "steps": {
            "change": {"run": change, "in": {"f": "f"}, "out": ["o"]},
            "say": {"run": say, "in": {"f": "change/o"}, "out": ["o"]},
        },
    }
    runner = Runner(tmp_path / "pilot", settings={"sandbox": get_sandbox()})
    try:
        report = run(
            runner, make_task(root, workflow), [write_input(root / "a.dat", data=b"data ")]
        )
    finally:
        runner.close()
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    text = Path(report.outputs[0].url.removeprefix("file://")).read_text()
    assert text == "data changed False\n"
