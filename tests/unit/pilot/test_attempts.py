"""Jobs with real tools in a real slot process: every way a job can end has its class, its sentence
and its log."""

import hashlib
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest

from pilot.reports.journal import read_journals
from sluice.contracts.pilots import AttemptReport, InputFile, PilotTask
from sluice.contracts.plan import Resources
from sluice.contracts.states import AttemptOutcome, ErrorClass, TaskMode
from sluice.storage import checksum_of
from tests.unit.pilot.builders import SHA, input_file, job, output, task, tool
from tests.unit.pilot.runner import Runner

_next = iter(range(100, 10_000))


def python(code: str, **fields: Any) -> dict[str, Any]:
    """A tool that runs Python code; ``sys.argv[1]`` is the input's path."""
    return tool(
        [sys.executable, "-c"], arguments=[code.replace("$(", "\\$("), "$(inputs.f.path)"], **fields
    )


def run(
    runner: Runner, task_: PilotTask, inputs: list[InputFile], *, seq: int = 0, attempt: int = 1
) -> AttemptReport:
    return runner.attempt(task_, job(task_, inputs, job_id=next(_next), attempt=attempt, seq=seq))


def log_of(report: AttemptReport) -> str:
    assert report.log is not None
    return Path(report.log.url.removeprefix("file://")).read_text()


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def failed(report: AttemptReport) -> tuple[ErrorClass | None, str]:
    assert report.outcome is AttemptOutcome.FAILED, report
    assert report.outputs == []
    return report.error_class, report.message


def test_success(runner: Runner, root: Path) -> None:
    file = input_file(root / "in" / "frame 1.dat", data=b"hits")
    report = run(runner, task(root, SHA), [file], seq=7, attempt=2)
    assert (report.outcome, report.error_class, report.message, report.exit_code) == (
        AttemptOutcome.FINISHED,
        None,
        "",
        0,
    )
    written = root / "out" / "00000007.2-frame 1.out"
    assert written.read_text().split()[0] == hashlib.sha256(b"hits").hexdigest()
    (stored,) = report.outputs
    assert (stored.port, stored.name, stored.url) == ("o", written.name, f"file://{written}")
    assert (stored.size, stored.checksum) == (written.stat().st_size, checksum_of(written))
    assert report.log is not None
    assert report.log.name == "00000007.2.log"
    assert "command sha256sum" in log_of(report)
    assert "exit code 0" in log_of(report)
    assert report.started_at is not None
    assert report.started_at <= report.ended_at
    assert report.cpu_seconds is not None


def test_the_input_is_untouched_and_nothing_is_left_of_the_job(runner: Runner, root: Path) -> None:
    task_ = task(
        root,
        python(
            "import os,sys; open('extra','w').write('x'); os.mkdir('d'); open('d/e','w');"
            " print(os.getcwd())"
        ),
    )
    first = run(runner, task_, [input_file(root / "in" / "a.dat")], seq=1)
    assert first.outcome is AttemptOutcome.FINISHED
    folder = Path((root / "out" / "00000001.1-a.out").read_text().strip())
    assert (root / "in" / "a.dat").read_bytes() == b"frame"
    assert [
        path for path in folder.parent.rglob("*") if path.is_file() and path.parent != folder.parent
    ] == []


def test_the_report_is_in_the_journal_before_it_is_told(runner: Runner, root: Path) -> None:
    report = run(runner, task(root, SHA), [input_file(root / "in" / "a.dat")])
    trace = read_journals(runner.run.journals)[(report.id, report.attempt)]
    assert trace.report == report
    assert report.log is not None
    assert trace.urls == [report.outputs[0].url, report.log.url]


def test_non_zero_exit_gives_the_code_and_the_last_line(runner: Runner, root: Path) -> None:
    executable = python("import sys; print('header is damaged', file=sys.stderr); sys.exit(3)")
    report = run(runner, task(root, executable), [input_file(root / "in" / "a.dat")])
    error_class, message = failed(report)
    assert error_class is ErrorClass.TOOL_FAILED
    assert message.endswith("ended with exit code 3: header is damaged")
    assert report.exit_code == 3
    assert "header is damaged" in log_of(report)
    assert files_in(root / "out") == []


@pytest.mark.parametrize(
    ("code", "expected"),
    [(65, ErrorClass.TOOL_REFUSED), (66, ErrorClass.TOOL_FAILED), (1, ErrorClass.TOOL_FAILED)],
)
def test_declared_exit_codes(runner: Runner, root: Path, code: int, expected: ErrorClass) -> None:
    executable = python(
        f"import sys; sys.exit({code})", permanentFailCodes=[65], temporaryFailCodes=[66]
    )
    assert (
        failed(run(runner, task(root, executable), [input_file(root / "in" / "a.dat")]))[0]
        is expected
    )


def test_success_codes(runner: Runner, root: Path) -> None:
    executable = python("import sys; print('ok'); sys.exit(2)", successCodes=[0, 2])
    report = run(runner, task(root, executable), [input_file(root / "in" / "a.dat")])
    assert (report.outcome, report.exit_code) == (AttemptOutcome.FINISHED, 2)


def test_killed_by_a_signal(runner: Runner, root: Path) -> None:
    executable = python("import os; os.kill(os.getpid(), 11)")
    error_class, message = failed(
        run(runner, task(root, executable), [input_file(root / "in" / "a.dat")])
    )
    assert error_class is ErrorClass.TOOL_FAILED
    assert "was killed by SIGSEGV" in message


def test_missing_program(runner: Runner, root: Path) -> None:
    report = run(runner, task(root, tool(["no-such-program"])), [input_file(root / "in" / "a.dat")])
    assert failed(report) == (
        ErrorClass.TOOL_FAILED,
        "program 'no-such-program' was not found on this node's PATH",
    )
    assert report.exit_code == 127


def test_a_program_that_cannot_be_run(runner: Runner, root: Path) -> None:
    (data := root.parent / "data").write_text("no program")
    report = run(runner, task(root, tool([str(data)])), [input_file(root / "in" / "a.dat")])
    assert failed(report) == (
        ErrorClass.TOOL_FAILED,
        f"program '{data}' cannot be started: Permission denied",
    )
    assert report.exit_code == 126


def test_missing_output_names_the_port_and_the_pattern(runner: Runner, root: Path) -> None:
    executable = tool(
        ["true"], outputs={"o": {"type": "File", "outputBinding": {"glob": "result-*.root"}}}
    )
    del executable["stdout"]
    error_class, message = failed(
        run(runner, task(root, executable), [input_file(root / "in" / "a.dat")])
    )
    assert error_class is ErrorClass.TOOL_FAILED
    assert message == "the tool wrote no file for output 'o': nothing matches ['result-*.root']"


def test_absent_optional_output(runner: Runner, root: Path) -> None:
    executable = tool(["true"], outputs={"o": {"type": "File?", "outputBinding": {"glob": "kept"}}})
    del executable["stdout"]
    task_ = task(root, executable, outputs=[output(root, "o", optional=True)])
    report = run(runner, task_, [input_file(root / "in" / "a.dat")])
    assert (report.outcome, report.outputs) == (AttemptOutcome.FINISHED, [])


def test_several_outputs(runner: Runner, root: Path) -> None:
    outputs = {
        name: {"type": "File", "outputBinding": {"glob": f"{name}.txt"}} for name in ("o", "side")
    }
    executable = python(
        "open('o.txt','w').write('1'); open('side.txt','w').write('2')", outputs=outputs
    )
    del executable["stdout"]
    task_ = task(root, executable, outputs=[output(root, "o"), output(root, "side", "histograms")])
    report = run(runner, task_, [input_file(root / "in" / "a.dat")], seq=3)
    assert [stored.port for stored in report.outputs] == ["o", "side"]
    assert (root / "histograms" / "00000003.1-side.txt").read_text() == "2"
    assert "--- stdout ---" in log_of(report)


def test_an_input_handed_on_as_output_is_copied(runner: Runner, root: Path) -> None:
    outputs = {"o": {"type": "File", "outputBinding": {"outputEval": "$(inputs.f)"}}}
    task_ = task(root, tool(["true"], outputs=outputs))
    report = run(runner, task_, [input_file(root / "in" / "a.dat", data=b"same")])
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    assert Path(report.outputs[0].url.removeprefix("file://")).read_bytes() == b"same"
    assert (root / "in" / "a.dat").read_bytes() == b"same"


@pytest.mark.parametrize(
    "name", ["with space.dat", "größe-日本.dat", "a#b%20c=d&e'f.dat", "$(x);rm -rf.dat", "-n.dat"]
)
def test_odd_names(runner: Runner, root: Path, name: str) -> None:
    report = run(runner, task(root, SHA), [input_file(root / "in" / name)], seq=1)
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    stem = name.removesuffix(".dat")
    assert files_in(root / "out") == [f"00000001.1-{stem}.out"]
    assert (
        hashlib.sha256(b"frame").hexdigest()
        in (root / "out" / f"00000001.1-{stem}.out").read_text()
    )


def test_wrong_checksum(runner: Runner, root: Path) -> None:
    file = input_file(root / "in" / "a.dat")
    (root / "in" / "a.dat").write_bytes(b"FRAME")
    report = run(runner, task(root, SHA), [file])
    error_class, message = failed(report)
    assert error_class is ErrorClass.CHECKSUM_MISMATCH
    assert file.checksum in message
    assert file.url in message
    assert "(not reached)" in log_of(report)


def test_vanished_input(runner: Runner, root: Path) -> None:
    file = input_file(root / "in" / "a.dat")
    (root / "in" / "a.dat").unlink()
    error_class, message = failed(run(runner, task(root, SHA), [file]))
    assert error_class is ErrorClass.STAGE_IN_FAILED
    assert message == f"input file 'a.dat' is no longer there: {file.url}"


def test_output_storage_that_cannot_be_written(runner: Runner, root: Path) -> None:
    root.mkdir()
    (root / "out").write_text("a file where the folder should be")
    report = run(runner, task(root, SHA), [input_file(root / "in" / "a.dat")])
    assert failed(report)[0] is ErrorClass.STAGE_OUT_FAILED
    assert "could not be written" in report.message
    assert "stage_out_failed" in log_of(report)


def test_second_output_failing_takes_the_first_back(runner: Runner, root: Path) -> None:
    root.mkdir()
    (root / "side").write_text("in the way")
    outputs = {
        name: {"type": "File", "outputBinding": {"glob": f"{name}.txt"}} for name in ("o", "side")
    }
    executable = python(
        "open('o.txt','w').write('1'); open('side.txt','w').write('2')", outputs=outputs
    )
    del executable["stdout"]
    task_ = task(root, executable, outputs=[output(root, "o"), output(root, "side", "side")])
    assert (
        failed(run(runner, task_, [input_file(root / "in" / "a.dat")]))[0]
        is ErrorClass.STAGE_OUT_FAILED
    )
    assert files_in(root / "out") == []


def test_lost_log_does_not_lose_the_job(runner: Runner, root: Path) -> None:
    root.mkdir()
    (root / "logs").write_text("in the way")
    report = run(runner, task(root, SHA), [input_file(root / "in" / "a.dat")])
    assert report.outcome is AttemptOutcome.FINISHED
    assert report.log is None
    assert "its log could not be kept" in report.message


def test_merge_of_200_files_keeps_their_order(runner: Runner, root: Path) -> None:
    executable = tool(
        ["cat"],
        inputs={"parts": {"type": "File[]"}, "title": "string"},
        arguments=["$(inputs.parts)"],
        outputs={"o": {"type": "File", "outputBinding": {"glob": "$(inputs.title).dat"}}},
        stdout="$(inputs.title).dat",
    )
    task_ = task(root, executable, mode=TaskMode.MERGE, dat_in_port="parts", args={"title": "all"})
    files = [
        input_file(root / f"in{n % 7}" / f"{n // 7}.dat", seq=n, data=f"{n},".encode())
        for n in range(200)
    ]
    report = run(runner, task_, files)
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    assert (root / "out" / "00000000.1-all.dat").read_text() == "".join(f"{n}," for n in range(200))


def test_equal_names_in_one_job(runner: Runner, root: Path) -> None:
    """Whatever the other files are called."""
    executable = tool(["cat"], inputs={"parts": {"type": "File[]"}}, arguments=["$(inputs.parts)"])
    executable |= {
        "stdout": "o",
        "outputs": {"o": {"type": "File", "outputBinding": {"glob": "o"}}},
    }
    task_ = task(root, executable, mode=TaskMode.MERGE, dat_in_port="parts")
    names = ["1", "1", "2", "3", "2", "0", "5", "5"]
    files = [
        input_file(root / f"in{n}" / name, seq=n, data=f"{n},".encode())
        for n, name in enumerate(names)
    ]
    report = run(runner, task_, files)
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    assert (root / "out" / "00000000.1-o").read_text() == "0,1,2,3,4,5,6,7,"


def test_time_limit_ends_a_tool_that_traps_sigterm(runner: Runner, root: Path) -> None:
    executable = python("import signal,time; signal.signal(15, signal.SIG_IGN); time.sleep(60)")
    task_ = task(root, executable, resources=Resources(time_limit=1.0))
    error_class, message = failed(run(runner, task_, [input_file(root / "in" / "a.dat")]))
    assert error_class is ErrorClass.TOOL_TIMEOUT
    assert message == "ran longer than its limit of 1 s and was ended"


def test_too_much_memory(runner: Runner, root: Path) -> None:
    executable = python("import time; x = bytearray(300 << 20); time.sleep(60)")
    task_ = task(root, executable, resources=Resources(time_limit=30.0, ram=50))
    report = run(runner, task_, [input_file(root / "in" / "a.dat")])
    assert failed(report)[0] is ErrorClass.OUT_OF_MEMORY
    assert report.peak_memory is not None
    assert report.peak_memory > 64


@pytest.mark.parametrize(("version", "ram"), [("v1.0", "1024"), ("v1.1", "256"), ("v1.2", "256")])
def test_a_tool_is_told_what_its_version_gives_it(
    runner: Runner, root: Path, version: str, ram: str
) -> None:
    executable = tool(["echo"], arguments=["$(runtime.ram)"], cwlVersion=version)
    for resources, told in ((Resources(), ram), (Resources(ram=300), "300")):
        report = run(
            runner,
            task(root, executable, resources=resources),
            [input_file(root / "in" / f"{told}.dat")],
        )
        assert report.outcome is AttemptOutcome.FINISHED, report.message
        assert (root / "out" / report.outputs[0].name).read_text() == f"{told}\n"


def test_one_file_too_large(runner: Runner, root: Path) -> None:
    executable = python("f = open('big', 'wb')\nwhile True: f.write(bytes(1 << 20))")
    error_class, message = failed(
        run(
            runner,
            task(root, executable, resources=Resources(disk=16)),
            [input_file(root / "in" / "a.dat")],
        )
    )
    assert (error_class, message) == (
        ErrorClass.TOOL_FAILED,
        "filled its folder: it may write 16 MiB",
    )


def test_many_files_too_large_together(runner: Runner, root: Path) -> None:
    executable = python(
        "import time\nfor n in range(8): open(f'part{n}', 'wb').write(bytes(4 <<"
        " 20))\ntime.sleep(60)"
    )
    error_class, message = failed(
        run(
            runner,
            task(root, executable, resources=Resources(disk=16)),
            [input_file(root / "in" / "a.dat")],
        )
    )
    assert (error_class, message) == (
        ErrorClass.TOOL_FAILED,
        "filled its folder: it may write 16 MiB",
    )


def test_long_streams_are_cut_in_the_middle(runner: Runner, root: Path) -> None:
    executable = python("import sys; sys.stderr.write('begin' + 'x' * (2 << 20) + 'end')")
    text = log_of(run(runner, task(root, executable), [input_file(root / "in" / "a.dat")]))
    assert "begin" in text
    assert text.endswith("end")
    assert "bytes left out" in text
    assert len(text) < (1 << 20) + 4096


def test_the_tools_environment_is_its_own(runner: Runner, root: Path) -> None:
    executable = python(
        "import os, json; print(json.dumps(dict(os.environ)))",
        requirements={"EnvVarRequirement": {"envDef": {"MODE": "fast"}}},
    )
    report = run(runner, task(root, executable), [input_file(root / "in" / "a.dat")])
    text = Path(report.outputs[0].url.removeprefix("file://")).read_text()
    assert '"MODE": "fast"' in text
    assert "hush" not in text
    assert "PYTHONPATH" not in text
    assert f'"PATH": "{Path(sys.executable).parent}:' in text
    assert '"HOME"' in text
    assert '"TMPDIR"' in text


def test_a_tool_that_cannot_be_loaded(runner: Runner, root: Path) -> None:
    report = run(
        runner,
        task(root, {"cwlVersion": "v1.2", "class": "CommandLineTool"}),
        [input_file(root / "in" / "a.dat")],
    )
    error_class, message = failed(report)
    assert error_class is ErrorClass.TOOL_FAILED
    assert message.startswith("the tool of step 'step' cannot be used: ")
    assert ".cwl:" not in message


def test_wrong_type_of_parameter(runner: Runner, root: Path) -> None:
    executable = tool(["true"], inputs={"f": "File", "level": "int"})
    error_class, message = failed(
        run(
            runner,
            task(root, executable, args={"level": "high"}),
            [input_file(root / "in" / "a.dat")],
        )
    )
    assert error_class is ErrorClass.TOOL_FAILED
    assert "level" in message


def test_files_written_by_the_tools_requirements(runner: Runner, root: Path) -> None:
    executable = tool(
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
    report = run(runner, task(root, executable), [input_file(root / "in" / "a.dat")])
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    assert Path(report.outputs[0].url.removeprefix("file://")).read_text() == "level a.dat\nframe"


def test_javascript(runner: Runner, root: Path) -> None:
    executable = tool(
        ["echo"],
        requirements={"InlineJavascriptRequirement": {}},
        arguments=["${ return inputs.f.size * 2; }"],
    )
    task_ = task(root, executable)
    for seq in range(2):
        report = run(runner, task_, [input_file(root / "in" / "a.dat")], seq=seq)
        assert report.outcome is AttemptOutcome.FINISHED, report.message
        assert Path(report.outputs[0].url.removeprefix("file://")).read_text() == "10\n"


def test_a_folder_that_the_tool_has_spoilt_is_replaced(runner: Runner, root: Path) -> None:
    spoil = python(
        "import os,shutil; p=os.path.dirname(os.getcwd()); shutil.rmtree(p+'/tmp');"
        " shutil.rmtree(p+'/in')"
    )
    assert (
        run(runner, task(root, spoil), [input_file(root / "in" / "a.dat")]).outcome
        is AttemptOutcome.FINISHED
    )
    assert (
        run(runner, task(root, SHA), [input_file(root / "in" / "a.dat")], seq=1).outcome
        is AttemptOutcome.FINISHED
    )


def test_a_forgotten_task_can_come_back(runner: Runner, root: Path) -> None:
    task_ = task(root, SHA, uid=uuid.uuid4())
    run(runner, task_, [input_file(root / "in" / "a.dat")])
    runner.forget(task_)
    assert (
        run(runner, task_, [input_file(root / "in" / "a.dat")], seq=1).outcome
        is AttemptOutcome.FINISHED
    )
