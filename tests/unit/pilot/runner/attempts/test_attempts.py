"""Tests of real tools in a real slot process: each way a job can end has its error class, message
and log."""

import hashlib
from pathlib import Path

import pytest

from pilot.reports.journal import read_journals
from sluice.contracts.common.states import AttemptOutcome, ErrorClass, TaskMode
from sluice.storage import compute_checksum
from tests.unit.pilot.attempts import get_error, list_files, make_python_tool, read_log, run
from tests.unit.pilot.builders import SHA, make_output, make_task, make_tool, write_input
from tests.unit.pilot.sandboxes import get_sandbox
from tests.unit.pilot.slot_runner import Runner


def test_successful_job_reports_its_output_and_log(runner: Runner, root: Path) -> None:
    file = write_input(root / "in" / "frame 1.dat", data=b"hits")
    report = run(runner, make_task(root, SHA), [file], seq=7, attempt=2)
    assert (report.outcome, report.error_class, report.message, report.exit_code) == (
        AttemptOutcome.FINISHED,
        None,
        "",
        0,
    )
    output_path = root / "out" / "00000007.2-frame 1.out"
    assert output_path.read_text().split()[0] == hashlib.sha256(b"hits").hexdigest()
    (stored,) = report.outputs
    assert (stored.port, stored.name, stored.url) == (
        "o",
        output_path.name,
        f"file://{output_path}",
    )
    assert (stored.size, stored.checksum) == (
        output_path.stat().st_size,
        compute_checksum(output_path),
    )
    assert report.log is not None
    assert report.log.name == "00000007.2.log"
    assert "command sha256sum" in read_log(report)
    assert "exit code 0" in read_log(report)
    assert report.started_at is not None
    assert report.started_at <= report.ended_at
    assert report.cpu_seconds is not None


def test_input_is_unchanged_and_the_job_folder_is_emptied(runner: Runner, root: Path) -> None:
    task_ = make_task(
        root,
        make_python_tool(
            "import os,sys; open('extra','w').write('x'); os.mkdir('d'); open('d/e','w');"
            " print(os.getcwd())"
        ),
    )
    first = run(runner, task_, [write_input(root / "in" / "a.dat")], seq=1)
    assert first.outcome is AttemptOutcome.FINISHED
    folder = Path((root / "out" / "00000001.1-a.out").read_text().strip())
    assert (root / "in" / "a.dat").read_bytes() == b"frame"
    assert [
        path for path in folder.parent.rglob("*") if path.is_file() and path.parent != folder.parent
    ] == []


def test_control_characters_in_the_message_of_a_tool_are_escaped(
    runner: Runner, root: Path
) -> None:
    code = "import sys; sys.exit('a\\x1b]0;taken\\x07\\tb\\u202egpj')"
    report = run(
        runner, make_task(root, make_python_tool(code)), [write_input(root / "in" / "a.dat")]
    )
    assert report.outcome is AttemptOutcome.FAILED
    assert report.message.endswith("a\u241b]0;taken\u2407\u2409b<U+202E>gpj")
    assert "\x1b]0;taken" in read_log(report)


def test_report_is_in_the_journal_before_it_is_sent(runner: Runner, root: Path) -> None:
    report = run(runner, make_task(root, SHA), [write_input(root / "in" / "a.dat")])
    trace = read_journals(runner.run.journals)[(report.id, report.attempt)]
    assert trace.report == report
    assert report.log is not None
    assert trace.urls == [report.outputs[0].url, report.log.url]


def test_message_of_a_failed_tool_has_the_exit_code_and_the_last_line(
    runner: Runner, root: Path
) -> None:
    executable = make_python_tool(
        "import sys; print('header is damaged', file=sys.stderr); sys.exit(3)"
    )
    report = run(runner, make_task(root, executable), [write_input(root / "in" / "a.dat")])
    error_class, message = get_error(report)
    assert error_class is ErrorClass.TOOL_FAILED
    assert message.endswith("ended with exit code 3: header is damaged")
    assert report.exit_code == 3
    assert "header is damaged" in read_log(report)
    assert list_files(root / "out") == []


@pytest.mark.parametrize(
    ("code", "expected"),
    [(65, ErrorClass.TOOL_REFUSED), (66, ErrorClass.TOOL_FAILED), (1, ErrorClass.TOOL_FAILED)],
)
def test_declared_fail_codes_decide_the_error_class(
    runner: Runner, root: Path, code: int, expected: ErrorClass
) -> None:
    executable = make_python_tool(
        f"import sys; sys.exit({code})", permanentFailCodes=[65], temporaryFailCodes=[66]
    )
    assert (
        get_error(run(runner, make_task(root, executable), [write_input(root / "in" / "a.dat")]))[0]
        is expected
    )


def test_declared_success_code_finishes_the_job(runner: Runner, root: Path) -> None:
    executable = make_python_tool("import sys; print('ok'); sys.exit(2)", successCodes=[0, 2])
    report = run(runner, make_task(root, executable), [write_input(root / "in" / "a.dat")])
    assert (report.outcome, report.exit_code) == (AttemptOutcome.FINISHED, 2)


def test_message_names_the_signal_that_killed_the_tool(runner: Runner, root: Path) -> None:
    executable = make_python_tool("import os; os.kill(os.getpid(), 11)")
    error_class, message = get_error(
        run(runner, make_task(root, executable), [write_input(root / "in" / "a.dat")])
    )
    assert error_class is ErrorClass.TOOL_FAILED
    assert "was killed by SIGSEGV" in message


def test_message_names_a_missing_program(runner: Runner, root: Path) -> None:
    report = run(
        runner,
        make_task(root, make_tool(["no-such-program"])),
        [write_input(root / "in" / "a.dat")],
    )
    assert get_error(report) == (
        ErrorClass.TOOL_FAILED,
        "program 'no-such-program' was not found on this node's PATH: install it in one of its"
        " folders, or add the folder that has it to the PATH that the pilot is started with",
    )
    assert report.exit_code == 127


def test_message_names_a_program_that_is_not_executable(runner: Runner, root: Path) -> None:
    executable = make_tool([], arguments=["$(inputs.f.path)"])
    report = run(runner, make_task(root, executable), [write_input(root / "in" / "a.dat")])
    error_class, message = get_error(report)
    assert error_class is ErrorClass.TOOL_FAILED
    assert message == "program 'in/a.dat' cannot be started: Permission denied"
    assert report.exit_code == 126


def test_message_says_how_to_make_a_program_visible_in_the_sandbox(root: Path) -> None:
    (program := root.parent / "program").symlink_to("/bin/true")
    runner = Runner(root.parent / "pilot", settings={"sandbox": get_sandbox()})
    try:
        report = run(
            runner, make_task(root, make_tool([str(program)])), [write_input(root / "in" / "a.dat")]
        )
    finally:
        runner.close()
    assert get_error(report) == (
        ErrorClass.TOOL_FAILED,
        f"program '{program}', or its interpreter, is where tools see nothing in this pilot's"
        " sandbox: add its folder to SLUICE_PILOT_SANDBOX_PATHS, or to the PATH that the pilot is"
        " started with",
    )
    assert report.exit_code == 127


def test_message_names_the_dropped_search_path_entry_of_a_program(root: Path) -> None:
    (root.parent / "program").symlink_to("/bin/true")
    dropped = {str(root.parent): "it holds files of others"}
    sandbox = get_sandbox().model_copy(update={"dropped": dropped})
    runner = Runner(root.parent / "pilot", settings={"sandbox": sandbox})
    try:
        report = run(
            runner, make_task(root, make_tool(["program"])), [write_input(root / "in" / "a.dat")]
        )
    finally:
        runner.close()
    assert get_error(report) == (
        ErrorClass.TOOL_FAILED,
        f"program 'program' is in {root.parent}, which tools do not see in this pilot's sandbox:"
        " it holds files of others",
    )


def test_message_names_the_port_and_the_pattern_of_a_missing_output(
    runner: Runner, root: Path
) -> None:
    executable = make_tool(
        ["true"], outputs={"o": {"type": "File", "outputBinding": {"glob": "result-*.root"}}}
    )
    del executable["stdout"]
    error_class, message = get_error(
        run(runner, make_task(root, executable), [write_input(root / "in" / "a.dat")])
    )
    assert error_class is ErrorClass.TOOL_FAILED
    assert message == "the tool wrote no file for output 'o': nothing matches ['result-*.root']"


def test_missing_optional_output_finishes_the_job(runner: Runner, root: Path) -> None:
    executable = make_tool(
        ["true"], outputs={"o": {"type": "File?", "outputBinding": {"glob": "kept"}}}
    )
    del executable["stdout"]
    task_ = make_task(root, executable, outputs=[make_output(root, "o", optional=True)])
    report = run(runner, task_, [write_input(root / "in" / "a.dat")])
    assert (report.outcome, report.outputs) == (AttemptOutcome.FINISHED, [])


def test_each_output_goes_to_the_folder_of_its_port(runner: Runner, root: Path) -> None:
    outputs = {
        name: {"type": "File", "outputBinding": {"glob": f"{name}.txt"}} for name in ("o", "side")
    }
    executable = make_python_tool(
        "open('o.txt','w').write('1'); open('side.txt','w').write('2')", outputs=outputs
    )
    del executable["stdout"]
    task_ = make_task(
        root, executable, outputs=[make_output(root, "o"), make_output(root, "side", "histograms")]
    )
    report = run(runner, task_, [write_input(root / "in" / "a.dat")], seq=3)
    assert [stored.port for stored in report.outputs] == ["o", "side"]
    assert (root / "histograms" / "00000003.1-side.txt").read_text() == "2"
    assert "--- stdout ---" in read_log(report)


def test_input_that_is_returned_as_an_output_is_copied(runner: Runner, root: Path) -> None:
    outputs = {"o": {"type": "File", "outputBinding": {"outputEval": "$(inputs.f)"}}}
    task_ = make_task(root, make_tool(["true"], outputs=outputs))
    report = run(runner, task_, [write_input(root / "in" / "a.dat", data=b"same")])
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    assert Path(report.outputs[0].url.removeprefix("file://")).read_bytes() == b"same"
    assert (root / "in" / "a.dat").read_bytes() == b"same"


@pytest.mark.parametrize(
    "name", ["with space.dat", "größe-日本.dat", "a#b%20c=d&e'f.dat", "$(x);rm -rf.dat", "-n.dat"]
)
def test_inputs_with_unusual_names_are_processed(runner: Runner, root: Path, name: str) -> None:
    report = run(runner, make_task(root, SHA), [write_input(root / "in" / name)], seq=1)
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    stem = name.removesuffix(".dat")
    assert list_files(root / "out") == [f"00000001.1-{stem}.out"]
    assert (
        hashlib.sha256(b"frame").hexdigest()
        in (root / "out" / f"00000001.1-{stem}.out").read_text()
    )


@pytest.mark.parametrize("name", ["path", "f'file://{path}'", "os.path.realpath(path)"])
def test_message_names_files_relative_to_the_job_folder(
    runner: Runner, root: Path, name: str
) -> None:
    """The log has the whole path."""
    code = f"import os, sys; path = sys.argv[-1]; sys.exit('no picture: ' + {name})"
    report = run(
        runner, make_task(root, make_python_tool(code)), [write_input(root / "in" / "a.dat")]
    )
    _, message = get_error(report)
    assert message.endswith(": no picture: in/a.dat")
    assert "/in/a.dat" in read_log(report).partition("no picture: ")[2]


def test_input_with_a_wrong_checksum_fails_the_job(runner: Runner, root: Path) -> None:
    file = write_input(root / "in" / "a.dat")
    (root / "in" / "a.dat").write_bytes(b"FRAME")
    report = run(runner, make_task(root, SHA), [file])
    error_class, message = get_error(report)
    assert error_class is ErrorClass.CHECKSUM_MISMATCH
    assert file.checksum in message
    assert file.url in message
    assert "(not reached)" in read_log(report)


def test_missing_input_file_fails_the_job(runner: Runner, root: Path) -> None:
    file = write_input(root / "in" / "a.dat")
    (root / "in" / "a.dat").unlink()
    error_class, message = get_error(run(runner, make_task(root, SHA), [file]))
    assert error_class is ErrorClass.STAGE_IN_FAILED
    assert message == f"input file 'a.dat' is no longer there: {file.url}"


def test_output_storage_that_cannot_be_written_fails_the_job(runner: Runner, root: Path) -> None:
    root.mkdir()
    (root / "out").write_text("a file where the folder should be")
    report = run(runner, make_task(root, SHA), [write_input(root / "in" / "a.dat")])
    assert get_error(report)[0] is ErrorClass.STAGE_OUT_FAILED
    assert "could not be written" in report.message
    assert "stage_out_failed" in read_log(report)


def test_first_output_is_removed_if_the_second_cannot_be_written(
    runner: Runner, root: Path
) -> None:
    root.mkdir()
    (root / "side").write_text("in the way")
    outputs = {
        name: {"type": "File", "outputBinding": {"glob": f"{name}.txt"}} for name in ("o", "side")
    }
    executable = make_python_tool(
        "open('o.txt','w').write('1'); open('side.txt','w').write('2')", outputs=outputs
    )
    del executable["stdout"]
    task_ = make_task(
        root, executable, outputs=[make_output(root, "o"), make_output(root, "side", "side")]
    )
    assert (
        get_error(run(runner, task_, [write_input(root / "in" / "a.dat")]))[0]
        is ErrorClass.STAGE_OUT_FAILED
    )
    assert list_files(root / "out") == []


def test_job_finishes_if_its_log_cannot_be_written(runner: Runner, root: Path) -> None:
    root.mkdir()
    (root / "logs").write_text("in the way")
    report = run(runner, make_task(root, SHA), [write_input(root / "in" / "a.dat")])
    assert report.outcome is AttemptOutcome.FINISHED
    assert report.log is None
    assert "its log could not be kept" in report.message


def test_merge_keeps_the_order_of_200_files(runner: Runner, root: Path) -> None:
    executable = make_tool(
        ["cat"],
        inputs={"parts": {"type": "File[]"}, "title": "string"},
        arguments=["$(inputs.parts)"],
        outputs={"o": {"type": "File", "outputBinding": {"glob": "$(inputs.title).dat"}}},
        stdout="$(inputs.title).dat",
    )
    task_ = make_task(
        root, executable, mode=TaskMode.MERGE, dat_in_port="parts", args={"title": "all"}
    )
    files = [
        write_input(root / f"in{n % 7}" / f"{n // 7}.dat", seq=n, data=f"{n},".encode())
        for n in range(200)
    ]
    report = run(runner, task_, files)
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    assert (root / "out" / "00000000.1-all.dat").read_text() == "".join(f"{n}," for n in range(200))


def test_job_can_have_several_inputs_with_the_same_name(runner: Runner, root: Path) -> None:
    """The other names are like those that the job could give to the duplicates."""
    executable = make_tool(
        ["cat"], inputs={"parts": {"type": "File[]"}}, arguments=["$(inputs.parts)"]
    )
    executable |= {
        "stdout": "o",
        "outputs": {"o": {"type": "File", "outputBinding": {"glob": "o"}}},
    }
    task_ = make_task(root, executable, mode=TaskMode.MERGE, dat_in_port="parts")
    names = ["1", "1", "2", "3", "2", "0", "5", "5"]
    files = [
        write_input(root / f"in{n}" / name, seq=n, data=f"{n},".encode())
        for n, name in enumerate(names)
    ]
    report = run(runner, task_, files)
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    assert (root / "out" / "00000000.1-o").read_text() == "0,1,2,3,4,5,6,7,"
