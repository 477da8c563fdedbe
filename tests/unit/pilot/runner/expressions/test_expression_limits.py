"""Tests of the limits of JavaScript of templates and of its isolation between jobs, in a real slot
process."""

import os
import sys
from pathlib import Path

import pytest

from sluice.contracts.common.states import ErrorClass
from tests.unit.pilot.attempts import get_error, read_log, run
from tests.unit.pilot.builders import make_task, make_tool, write_input
from tests.unit.pilot.inner_workflows import wrap_in_workflow
from tests.unit.pilot.runner.expressions.expression_slot import (
    LIMIT,
    SECRET,
    break_out,
    evaluate_outside,
    list_evaluators,
    make_expression_tool,
    read_output_lines,
)
from tests.unit.pilot.slot_runner import Runner


def test_endless_loop_fails_the_job_and_the_slot_runs_the_next(runner: Runner, root: Path) -> None:
    report = run(
        runner,
        make_task(root, make_expression_tool("${while(true){}}")),
        [write_input(root / "in" / "a.dat")],
    )
    sentence = f"the expression ${{while(true){{}}}} took longer than its limit of {LIMIT:g} s"
    assert get_error(report) == (ErrorClass.TOOL_REFUSED, sentence)
    assert read_output_lines(
        run(
            runner,
            make_task(root, make_expression_tool("$(6 * 7)")),
            [write_input(root / "in" / "b.dat")],
        )
    ) == ["42"]


def test_endless_loop_in_an_inner_workflow_fails_the_job(runner: Runner, root: Path) -> None:
    report = run(
        runner,
        make_task(root, wrap_in_workflow(make_expression_tool("$(1)"), when="${while(true){}}")),
        [write_input(root / "in" / "a.dat")],
    )
    error_class, message = get_error(report)
    assert error_class is ErrorClass.TOOL_REFUSED
    assert message.endswith(
        f"the expression ${{while(true){{}}}} took longer than its limit of {LIMIT:g} s"
    )


def test_endless_loop_in_a_late_callback_fails_the_job(runner: Runner, root: Path) -> None:
    late = "import('x').catch(error => { while (true) {} })"
    report = run(
        runner,
        make_task(root, make_expression_tool("${ " + late + "; return 1; }", "$(2 + 3)")),
        [write_input(root / "in" / "a.dat")],
    )
    assert get_error(report)[0] is ErrorClass.TOOL_REFUSED
    assert read_output_lines(
        run(
            runner,
            make_task(root, make_expression_tool("$(6 * 7)")),
            [write_input(root / "in" / "b.dat")],
        )
    ) == ["42"]


@pytest.mark.parametrize(
    ("expression", "sentence"),
    [
        ("new Array(1000000).fill(1.5)", "took more than its 1280 MiB of memory"),
        ("new Uint8Array(50000000).fill(1)", "Array buffer allocation failed"),
        ("new WebAssembly.Memory({initial: 2000})", "could not allocate memory"),
    ],
)
def test_expression_that_uses_too_much_memory_fails_the_job(
    root: Path, tmp_path: Path, expression: str, sentence: str
) -> None:
    runner = Runner(
        tmp_path / "pilot",
        environment={"PYTHONPATH": str(Path.cwd())},
        settings={"expression_limit": 60.0},
    )
    try:
        code = "${ var held = []; while (true) { held.push(" + expression + "); } }"
        assert (
            sentence
            in get_error(
                run(
                    runner,
                    make_task(root, make_expression_tool(code)),
                    [write_input(root / "in" / "a.dat")],
                )
            )[1]
        )
        assert read_output_lines(
            run(
                runner,
                make_task(root, make_expression_tool("$(6 * 7)")),
                [write_input(root / "in" / "b.dat")],
            )
        ) == ["42"]
    finally:
        runner.close()


def test_too_long_result_of_an_expression_fails_the_job(runner: Runner, root: Path) -> None:
    report = run(
        runner,
        make_task(root, make_expression_tool("$('x'.repeat(70000000))")),
        [write_input(root / "in" / "a.dat")],
    )
    assert "longer than 16 MiB" in get_error(report)[1]


@pytest.mark.parametrize(
    "forged",
    [
        "process.stdout.write(JSON.stringify({value: 1}) + String.fromCharCode(10))",
        "process.stdout.write(String.fromCharCode(10, 10))",
        "process.exit(0)",
        "process.abort()",
    ],
)
def test_result_of_an_expression_cannot_be_forged(runner: Runner, root: Path, forged: str) -> None:
    code = f"(() => {{ {forged}; while (true) {{}} }})()"
    get_error(
        run(
            runner,
            make_task(root, make_expression_tool(*break_out(code))),
            [write_input(root / "in" / "a.dat")],
        )
    )
    assert read_output_lines(
        run(
            runner,
            make_task(root, make_expression_tool("$(6 * 7)")),
            [write_input(root / "in" / "b.dat")],
        )
    ) == ["42"]


def test_expressions_see_no_variables_of_earlier_expressions(runner: Runner, root: Path) -> None:
    marking_task = (
        "${ if (globalThis.mark) { return 'seen'; } globalThis.mark = Array.prototype.mark = 1;"
        " return 'unseen'; }"
    )
    task_ = make_task(root, make_expression_tool(marking_task, marking_task))
    for number in range(2):
        report = run(runner, task_, [write_input(root / "in" / "a.dat")], seq=number)
        assert read_output_lines(report) == ["unseen", "unseen"]


def test_jobs_of_a_task_share_an_evaluator_that_other_tasks_do_not_get(
    runner: Runner, root: Path
) -> None:
    marking_task = make_task(
        root, make_expression_tool(*break_out("[globalThis.mark, globalThis.mark = 'left']"))
    )
    before: list[int] = []
    for number in range(2):
        run(runner, marking_task, [write_input(root / "in" / "a.dat")], seq=number)
        before.append(*list_evaluators(runner))
    assert before[0] == before[1], "it is slow to start an evaluator for each job"
    assert read_output_lines(
        run(
            runner,
            make_task(root, make_expression_tool("$(typeof mark)")),
            [write_input(root / "in" / "b.dat")],
        )
    ) == ["undefined"]
    assert evaluate_outside(runner, root, "typeof globalThis.mark") == "undefined"
    assert list_evaluators(runner) != before[:1]


def make_environment_without_sandbox(folder: Path) -> dict[str, str]:
    """Return an environment with node.js and without bubblewrap on the PATH."""
    folder.mkdir()
    (folder / "node").symlink_to(os.path.realpath("/usr/bin/node"))
    return {"PATH": str(folder), "PYTHONPATH": str(Path.cwd()), "SLUICE_PILOT_TOKEN": SECRET}


def test_node_restricts_itself_without_bubblewrap(root: Path, tmp_path: Path) -> None:
    runner = Runner(
        tmp_path / "pilot", environment=make_environment_without_sandbox(tmp_path / "bin")
    )
    try:
        assert evaluate_outside(runner, root, "process.env") == {}
        for code in (
            "require('fs').readFileSync('/etc/passwd')",
            "require('child_process').execSync('id')",
        ):
            assert "restricted" in evaluate_outside(runner, root, code)
        report = run(
            runner,
            make_task(root, wrap_in_workflow(make_expression_tool("$(6 * 7)"))),
            [write_input(root / "in" / "b.dat")],
        )
        assert read_output_lines(report) == ["42"]
    finally:
        runner.close()


@pytest.mark.parametrize("inside", [False, True])
def test_pilot_with_a_required_sandbox_refuses_javascript_without_bubblewrap(
    root: Path, tmp_path: Path, inside: bool
) -> None:
    runner = Runner(
        tmp_path / "pilot",
        environment=make_environment_without_sandbox(tmp_path / "bin"),
        settings={"sandbox_required": True},
    )
    sentence = (
        "this pilot evaluates JavaScript in a sandbox only, and there is no bubblewrap (bwrap) on"
        " this node's PATH"
    )
    try:
        process = (
            wrap_in_workflow(make_expression_tool("$(6 * 7)"))
            if inside
            else make_expression_tool("$(6 * 7)")
        )
        report = run(runner, make_task(root, process), [write_input(root / "in" / "a.dat")])
        get_error(report)
        assert sentence in (read_log(report) if inside else report.message)
        plain = make_task(root, make_tool([sys.executable, "-c", "print(1)"]))
        assert read_output_lines(run(runner, plain, [write_input(root / "in" / "b.dat")])) == ["1"]
    finally:
        runner.close()
