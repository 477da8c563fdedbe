"""Tests of the limits of a tool in a real slot process: time, memory, disk and log size."""

import json
import os
import sys
from pathlib import Path

import pytest

from sluice.contracts.common.states import AttemptOutcome, ErrorClass
from sluice.contracts.jobs.needs import Resources
from tests.unit.pilot.attempts import get_error, make_python_tool, read_log, run
from tests.unit.pilot.builders import make_task, make_tool, write_input
from tests.unit.pilot.slot_runner import Runner


def test_time_limit_ends_a_tool_that_traps_sigterm(runner: Runner, root: Path) -> None:
    executable = make_python_tool(
        "import signal,time; signal.signal(15, signal.SIG_IGN); time.sleep(60)"
    )
    task_ = make_task(root, executable, resources=Resources(time_limit=1.0))
    error_class, message = get_error(run(runner, task_, [write_input(root / "in" / "a.dat")]))
    assert error_class is ErrorClass.TOOL_TIMEOUT
    assert message == "ran longer than its limit of 1 s (ToolTimeLimit) and was ended"


def test_time_limit_by_expression_replaces_the_limit_of_the_task(
    runner: Runner, root: Path
) -> None:
    executable = make_tool(
        ["sleep", "60"],
        inputs={"f": "File", "seconds": "int"},
        requirements={"ToolTimeLimit": {"timelimit": "$(inputs.seconds)"}},
    )
    task_ = make_task(root, executable, args={"seconds": 1}, resources=Resources(time_limit=0.0))
    error_class, message = get_error(run(runner, task_, [write_input(root / "in" / "a.dat")]))
    assert error_class is ErrorClass.TOOL_TIMEOUT
    assert message == "ran longer than its limit of 1 s (ToolTimeLimit) and was ended"


def test_resource_request_by_expression_is_what_the_tool_sees(runner: Runner, root: Path) -> None:
    request = {
        "coresMin": "$(inputs.cores)",
        "ramMax": "$(inputs.cores * 100)",
        "tmpdirMin": "$(inputs.cores)",
        "outdirMin": 7,
    }
    executable = make_tool(
        ["echo"],
        arguments=["$(runtime.cores)", "$(runtime.ram)", "$(runtime.tmpdirSize)"],
        inputs={"f": "File", "cores": "int"},
        requirements={"InlineJavascriptRequirement": {}, "ResourceRequirement": request},
    )
    task_ = make_task(root, executable, args={"cores": 3}, resources=Resources(cores=1, ram=64))
    report = run(runner, task_, [write_input(root / "in" / "a.dat")])
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    assert (root / "out" / report.outputs[0].name).read_text() == "3 300 3\n"


def test_tool_that_uses_too_much_memory_is_ended(runner: Runner, root: Path) -> None:
    executable = make_python_tool("import time; x = bytearray(300 << 20); time.sleep(60)")
    task_ = make_task(root, executable, resources=Resources(time_limit=30.0, ram=50))
    report = run(runner, task_, [write_input(root / "in" / "a.dat")])
    assert get_error(report)[0] is ErrorClass.OUT_OF_MEMORY
    assert report.peak_memory is not None
    assert report.peak_memory > 64


@pytest.mark.parametrize(("version", "ram"), [("v1.0", "1024"), ("v1.1", "256"), ("v1.2", "256")])
def test_default_memory_of_a_tool_depends_on_its_cwl_version(
    runner: Runner, root: Path, version: str, ram: str
) -> None:
    executable = make_tool(["echo"], arguments=["$(runtime.ram)"], cwlVersion=version)
    for resources, expected in ((Resources(), ram), (Resources(ram=300), "300")):
        report = run(
            runner,
            make_task(root, executable, resources=resources),
            [write_input(root / "in" / f"{expected}.dat")],
        )
        assert report.outcome is AttemptOutcome.FINISHED, report.message
        assert (root / "out" / report.outputs[0].name).read_text() == f"{expected}\n"


_IN_PLACE = {
    "InlineJavascriptRequirement": {},
    "InplaceUpdateRequirement": {"inplaceUpdate": True},
    "InitialWorkDirRequirement": {"listing": [{"entry": "$(inputs.f)", "writable": True}]},
}
_WRITES = """
import os, sys, time
def fill(number):
    file = os.open(f"part{number}", os.O_CREAT | os.O_WRONLY)
    os.write(file, bytes(4 << 20))
    return file
"""
#: Each program writes 32 MiB, most of them in files of 4 MiB.
_FILLS = {
    "one file": "f = open('big', 'wb')\nwhile True: f.write(bytes(1 << 20))",
    "files": _WRITES + "for n in range(8): fill(n)\ntime.sleep(60)",
    "files, and ends well at once": _WRITES + "for n in range(8): fill(n)",
    "files without a name": _WRITES + """
for n in range(8):
    fill(n)
    os.unlink(f"part{n}")
time.sleep(60)
""",
    "files of a child that are without a name": _WRITES + """
if os.fork() == 0:
    for n in range(8):
        fill(n)
        os.unlink(f"part{n}")
time.sleep(60)
""",
    "files deeper than any path": _WRITES + """
for n in range(3_000):
    os.mkdir("deep")
    os.chdir("deep")
for n in range(8): fill(n)
time.sleep(60)
""",
    "its standard error, and ends well": """
import os
for n in range(32): os.write(2, bytes(1 << 20))
""",
    "its input": """
import sys
with open(sys.argv[1], "ab") as file:
    for _ in range(32): file.write(bytes(1 << 20))
""",
}  # fmt: skip


@pytest.mark.parametrize("writing_way", _FILLS)
def test_tool_that_writes_more_than_its_disk_is_ended(
    runner: Runner, root: Path, writing_way: str
) -> None:
    requirements = _IN_PLACE if writing_way == "its input" else {}
    # The kernel limits the size of a file only beyond the memory of the tool.
    resources = Resources(disk=16, ram=200, time_limit=30.0)
    report = run(
        runner,
        make_task(
            root,
            make_python_tool(_FILLS[writing_way], requirements=requirements),
            resources=resources,
        ),
        [write_input(root / "in" / "a.dat")],
    )
    assert get_error(report) == (
        ErrorClass.TOOL_FAILED,
        "filled its folder: it may write 16 MiB (tmpdirMin and outdirMin)",
    )


def test_file_in_memory_can_be_larger_than_the_disk_of_the_job(runner: Runner, root: Path) -> None:
    executable = make_python_tool(
        "import os; print(os.write(os.memfd_create('x'), bytes(32 << 20)))"
    )
    report = run(
        runner,
        make_task(root, executable, resources=Resources(disk=8, ram=200)),
        [write_input(root / "in" / "a.dat")],
    )
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    assert (root / "out" / report.outputs[0].name).read_text() == f"{32 << 20}\n"


def test_size_of_an_input_does_not_count_as_disk_usage(runner: Runner, root: Path) -> None:
    executable = make_python_tool(
        "import sys; open(sys.argv[1], 'ab').write(b'x')", requirements=_IN_PLACE
    )
    report = run(
        runner,
        make_task(root, executable, resources=Resources(disk=1)),
        [write_input(root / "in" / "a.dat", data=bytes(4 << 20))],
    )
    assert report.outcome is AttemptOutcome.FINISHED, report.message


def test_long_streams_are_cut_in_the_middle(runner: Runner, root: Path) -> None:
    executable = make_python_tool("import sys; sys.stderr.write('begin' + 'x' * (2 << 20) + 'end')")
    text = read_log(run(runner, make_task(root, executable), [write_input(root / "in" / "a.dat")]))
    assert "begin" in text
    assert text.endswith("end")
    assert "bytes left out" in text
    assert len(text) < (1 << 20) + 4096


def test_tool_does_not_inherit_the_environment_of_the_pilot(runner: Runner, root: Path) -> None:
    executable = make_python_tool(
        "import os, json; print(json.dumps(dict(os.environ)))",
        requirements={"EnvVarRequirement": {"envDef": {"MODE": "fast"}}},
    )
    report = run(runner, make_task(root, executable), [write_input(root / "in" / "a.dat")])
    text = Path(report.outputs[0].url.removeprefix("file://")).read_text()
    environment = json.loads(text)
    assert environment["MODE"] == "fast"
    assert "hush" not in text
    assert "PYTHONPATH" not in environment
    assert str(Path(sys.executable).parent) in environment["PATH"].split(os.pathsep)
    assert {"HOME", "TMPDIR"} <= environment.keys()
