"""Tests of how tools are prepared from their CWL documents, in a real slot process."""

import uuid
from pathlib import Path

from sluice.contracts.common.states import AttemptOutcome, ErrorClass
from tests.unit.pilot.attempts import get_error, make_python_tool, run
from tests.unit.pilot.builders import SHA, make_task, make_tool, write_input
from tests.unit.pilot.slot_runner import Runner


def test_invalid_tool_document_fails_the_job(runner: Runner, root: Path) -> None:
    report = run(
        runner,
        make_task(root, {"cwlVersion": "v1.2", "class": "CommandLineTool"}),
        [write_input(root / "in" / "a.dat")],
    )
    error_class, message = get_error(report)
    assert error_class is ErrorClass.TOOL_FAILED
    assert message.startswith("the tool of step 'step' cannot be used: ")
    assert ".cwl:" not in message


def test_argument_of_a_wrong_type_fails_the_job(runner: Runner, root: Path) -> None:
    executable = make_tool(["true"], inputs={"f": "File", "level": "int"})
    error_class, message = get_error(
        run(
            runner,
            make_task(root, executable, args={"level": "high"}),
            [write_input(root / "in" / "a.dat")],
        )
    )
    assert error_class is ErrorClass.TOOL_REFUSED
    assert "level" in message


def test_initial_files_of_the_working_directory_are_written(runner: Runner, root: Path) -> None:
    executable = make_tool(
        ["cat", "settings.txt", "copy.dat"],
        requirements={
            "InitialWorkDirRequirement": {
                "listing": [
                    {"entryname": "settings.txt", "entry": "level $(inputs.f.basename)\n"},
                    {"entryname": "copy.dat", "entry": "$(inputs.f)", "writable": True},
                ]
            }
        },
    )
    report = run(runner, make_task(root, executable), [write_input(root / "in" / "a.dat")])
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    assert Path(report.outputs[0].url.removeprefix("file://")).read_text() == "level a.dat\nframe"


def test_javascript_expressions_are_evaluated(runner: Runner, root: Path) -> None:
    executable = make_tool(
        ["echo"],
        requirements={"InlineJavascriptRequirement": {}},
        arguments=["${ return inputs.f.size * 2; }"],
    )
    task_ = make_task(root, executable)
    for seq in range(2):
        report = run(runner, task_, [write_input(root / "in" / "a.dat")], seq=seq)
        assert report.outcome is AttemptOutcome.FINISHED, report.message
        assert Path(report.outputs[0].url.removeprefix("file://")).read_text() == "10\n"


def test_job_folder_that_a_tool_has_deleted_is_made_again(runner: Runner, root: Path) -> None:
    spoil = make_python_tool(
        "import os,shutil; p=os.path.dirname(os.getcwd()); "
        "[shutil.rmtree(f'{p}/{name}', ignore_errors=True) for name in ('tmp', 'in')]"
    )
    assert (
        run(runner, make_task(root, spoil), [write_input(root / "in" / "a.dat")]).outcome
        is AttemptOutcome.FINISHED
    )
    assert (
        run(runner, make_task(root, SHA), [write_input(root / "in" / "a.dat")], seq=1).outcome
        is AttemptOutcome.FINISHED
    )


def test_forgotten_task_can_be_submitted_again(runner: Runner, root: Path) -> None:
    task_ = make_task(root, SHA, uid=uuid.uuid4())
    run(runner, task_, [write_input(root / "in" / "a.dat")])
    runner.forget(task_)
    assert (
        run(runner, task_, [write_input(root / "in" / "a.dat")], seq=1).outcome
        is AttemptOutcome.FINISHED
    )
