"""Tests of jobs with several entries in a real slot process: each entry runs like a job of its
own."""

from pathlib import Path

from pilot.reports.journal import read_journals
from sluice.contracts.common.states import AttemptOutcome, EntryKind, ErrorClass
from sluice.contracts.jobs.job_inputs import InputFile
from sluice.contracts.jobs.needs import Resources
from tests.unit.pilot.attempts import get_error, list_files, make_python_tool, read_log, run
from tests.unit.pilot.builders import SHA, make_output, make_task, make_tool, write_input
from tests.unit.pilot.slot_runner import Runner


def make_inputs(root: Path, *texts: str, first: int = 3) -> list[InputFile]:
    return [
        write_input(root / "in" / f"{text}.dat", seq=seq, data=text.encode())
        for seq, text in enumerate(texts, first)
    ]


def read_written_files(root: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted((root / "out").iterdir())}


def test_each_entry_has_its_own_outputs(runner: Runner, root: Path) -> None:
    report = run(
        runner,
        make_task(root, make_tool(["cat"], stdin="$(inputs.f.path)"), batch=5),
        make_inputs(root, "x", "y", "z"),
        seq=3,
        attempt=2,
    )
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    assert [(file.name, file.number) for file in report.outputs] == [
        ("00000003.2-x.out", 3),
        ("00000004.2-y.out", 4),
        ("00000005.2-z.out", 5),
    ]
    assert read_written_files(root) == {
        "00000003.2-x.out": "x",
        "00000004.2-y.out": "y",
        "00000005.2-z.out": "z",
    }
    single_report = run(
        runner, make_task(root / "one", SHA, batch=5), make_inputs(root, "x"), seq=3
    )
    assert [file.number for file in single_report.outputs] == [3], (
        "the last batch of a data set may have a single entry"
    )


def test_files_with_the_same_number_form_an_entry(runner: Runner, root: Path) -> None:
    both = make_tool(
        ["cat"],
        inputs={
            "f": {"type": "File", "inputBinding": {}},
            "g": {"type": "File?", "inputBinding": {}},
        },
    )
    first, second = make_inputs(root, "x", "y")
    neighbour = write_input(root / "in" / "beside", seq=3, data=b"+").model_copy(
        update={"port": "g"}
    )
    report = run(
        runner, make_task(root, both, side_ports=["g"], batch=2), [first, neighbour, second]
    )
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    assert list(read_written_files(root).values()) == ["x+", "y"]


def test_entry_sees_no_files_of_earlier_entries(runner: Runner, root: Path) -> None:
    code = """
import os
tmp = os.environ["TMPDIR"]
print(sorted(os.listdir()), os.listdir(tmp))
open("left", "w").close()
open(tmp + "/left", "w").close()
"""
    report = run(
        runner, make_task(root, make_python_tool(code), batch=3), make_inputs(root, "x", "y", "z")
    )
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    assert list(read_written_files(root).values()) == [f"['{name}.out'] []\n" for name in "xyz"]


def test_failed_entry_fails_the_whole_job(runner: Runner, root: Path) -> None:
    code = (
        "import sys; text = open(sys.argv[1]).read(); print(text); sys.exit('no beam' if text =="
        " 'y' else 0)"
    )
    batch = make_task(root, make_python_tool(code, permanentFailCodes=[7]), batch=3)
    report = run(runner, batch, make_inputs(root, "x", "y", "z"))
    error, message = get_error(report)
    assert error is ErrorClass.TOOL_FAILED
    assert message.startswith("y.dat: ")
    assert "no beam" in message
    assert list_files(root / "out") == []
    assert "no beam" in read_log(report)
    assert run(runner, batch, make_inputs(root, "x", "z")).outcome is AttemptOutcome.FINISHED, (
        "the failed job leaves no files that disturb the next job"
    )


def test_limits_apply_to_each_entry(runner: Runner, root: Path) -> None:
    code = "import sys, time; time.sleep(60 if open(sys.argv[1]).read() == 'y' else 0)"
    slow = make_task(root, make_python_tool(code), batch=2, resources=Resources(time_limit=2))
    error, message = get_error(run(runner, slow, make_inputs(root, "x", "y")))
    assert (error, message.split(":")[0]) == (ErrorClass.TOOL_TIMEOUT, "y.dat")


def test_journal_names_all_outputs_of_a_batch(runner: Runner, root: Path) -> None:
    tree = make_tool(
        ["mkdir"],
        arguments=["$(inputs.f.nameroot)"],
        outputs={
            "o": {"type": "Directory", "outputBinding": {"glob": "$(inputs.f.nameroot)"}},
            "p": {"type": "File", "outputBinding": {"outputEval": "$(inputs.f)"}},
        },
        requirements={"InlineJavascriptRequirement": {}},
    )
    outputs = [
        make_output(root, "o").model_copy(update={"kind": EntryKind.BUNDLE}),
        make_output(root, "p", "same"),
    ]
    report = run(
        runner, make_task(root, tree, batch=2, outputs=outputs), make_inputs(root, "x", "y")
    )
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    assert list_files(root / "out") == ["00000003.1-x.tar", "00000004.1-y.tar"]
    same = {path.name: path.read_text() for path in (root / "same").iterdir()}
    assert same == {"00000003.1-x.dat": "x", "00000004.1-y.dat": "y"}
    assert (root / "in" / "x.dat").read_text() == "x", (
        "an input that is returned as an output stays in its place"
    )
    [trace] = [
        trace
        for token, trace in read_journals(runner.run.journals).items()
        if token == (report.id, report.attempt)
    ]
    assert {file.url for file in report.outputs} <= set(trace.urls)


def test_expression_can_rename_an_output_and_the_output_stays_executable(
    runner: Runner, root: Path
) -> None:
    process = make_tool(["sh", "-c", 'printf "#!/bin/sh\\n" > tmp.out; chmod 755 tmp.out'])
    del process["stdout"]
    rename = "${ self[0].basename = inputs.f.nameroot + '.renamed'; return self[0]; }"
    process["outputs"] = {
        "o": {"type": "File", "outputBinding": {"glob": "tmp.out", "outputEval": rename}}
    }
    process["requirements"] = {"InlineJavascriptRequirement": {}}
    report = run(runner, make_task(root, process, batch=2), make_inputs(root, "x", "y"), seq=3)
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    assert [file.name for file in report.outputs] == [
        "00000003.1-x.renamed",
        "00000004.1-y.renamed",
    ]
    assert [path.stat().st_mode & 0o777 for path in (root / "out").iterdir()] == [0o755, 0o755]
