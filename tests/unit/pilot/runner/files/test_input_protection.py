"""Tests that a tool cannot change input files on a storage without being noticed."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from pilot.domain.model import StopReason
from pilot.folders.spare_files import SpareFiles
from pilot.runner.cwl.requirements import changes_inputs
from pilot.runner.files.input_protection import MAX_COPIED, ProtectedInputs
from sluice.contracts.common.states import AttemptOutcome, ErrorClass
from sluice.contracts.jobs.job_inputs import InputFile
from tests.unit.pilot.attempts import get_error, read_log, run
from tests.unit.pilot.builders import make_job, make_task, make_tool, write_input
from tests.unit.pilot.inner_workflows import wrap_in_workflow
from tests.unit.pilot.job_pipes import wait_for
from tests.unit.pilot.sandboxes import get_sandbox
from tests.unit.pilot.slot_runner import Runner

READ = make_tool(["stat", "-Lc", "%i"], arguments=["$(inputs.f.path)"])
#: A tool that declares in CWL that it changes its input.
IN_PLACE = make_tool(
    ["sh", "-c", 'echo more >> "$0"'],
    arguments=["$(inputs.f.basename)"],
    requirements={
        "InplaceUpdateRequirement": {"inplaceUpdate": True},
        "InitialWorkDirRequirement": {"listing": [{"entry": "$(inputs.f)", "writable": True}]},
    },
    outputs={"o": {"type": "File", "outputBinding": {"glob": "$(inputs.f.basename)"}}},
)
del IN_PLACE["stdout"]
ONLY_READ = pytest.mark.in_the_open("inputs can only be read in the sandbox")


def write_large_input(root: Path, name: str = "large.dat") -> InputFile:
    return write_input(root / "in" / name, data=bytes(MAX_COPIED + 1))


def read_file(url: str) -> bytes:
    return Path(url.removeprefix("file://")).read_bytes()


@ONLY_READ
def test_small_input_is_copied_for_the_tool(runner: Runner, root: Path) -> None:
    for number, is_shared in enumerate((False, True)):
        file = write_input(root / "in" / "a.dat")
        joined = make_tool(
            ["sh", "-c", 'echo more >> "$0" && tail -c 9 "$0"'],
            inputs={"f": "File", "g": "File?"},
            arguments=["$((inputs.g || inputs.f).path)"],
            requirements={"InlineJavascriptRequirement": {}},
        )
        shared = [file.model_copy(update={"port": "g"})] if is_shared else []
        task_ = make_task(root, joined, side_ports=["g"], shared_inputs=shared)
        for again in range(2):
            report = run(runner, task_, [file], seq=2 * number + again)
            assert report.outcome is AttemptOutcome.FINISHED, report.message
            assert read_file(report.outputs[0].url) == b"ramemore\n"
            assert read_file(file.url) == b"frame"


def test_large_input_is_a_link(runner: Runner, root: Path) -> None:
    file = write_large_input(root)
    report = run(runner, make_task(root, READ), [file])
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    assert (
        int(read_file(report.outputs[0].url))
        == Path(file.url.removeprefix("file://")).stat().st_ino
    )


@ONLY_READ
@pytest.mark.parametrize("ending", ["true", "false", "sleep 600"])
def test_tool_that_writes_to_a_large_input_fails_however_it_ends(
    runner: Runner, root: Path, ending: str
) -> None:
    file = write_large_input(root)
    writes = make_tool(["sh", "-c", f'echo more >> "$0"; {ending}'], arguments=["$(inputs.f.path)"])
    limit = make_task(root, READ).needs.resources.model_copy(update={"time_limit": 2.0})
    report = run(runner, make_task(root, writes, resources=limit), [file])
    error_class, message = get_error(report)
    assert error_class is ErrorClass.TOOL_REFUSED, (
        "another attempt would only find a wrong checksum"
    )
    assert f"input file 'large.dat', {file.url}" in message
    assert "writable: true" in message


@ONLY_READ
def test_change_of_a_shared_input_fails_the_job_that_made_it(runner: Runner, root: Path) -> None:
    shared, own = write_large_input(root), write_input(root / "in" / "a.dat")
    writes = make_tool(
        ["sh", "-c", 'if [ "$0" = b.dat ]; then echo more >> "$1"; fi'],
        inputs={"f": "File", "g": "File"},
        arguments=["$(inputs.f.basename)", "$(inputs.g.path)"],
    )
    task_ = make_task(
        root, writes, side_ports=["g"], shared_inputs=[shared.model_copy(update={"port": "g"})]
    )
    assert run(runner, task_, [own], seq=0).outcome is AttemptOutcome.FINISHED
    report = run(runner, task_, [write_input(root / "in" / "b.dat")], seq=1)
    assert "input file 'large.dat'" in get_error(report)[1]


#: Reads its input after the test has made the file ``go``.
WAITS = make_tool(
    ["sh", "-c", 'touch begun; while ! test -e go; do :; done; tail -c 4 "$0"'],
    arguments=["$(inputs.f.path)"],
)


@pytest.mark.parametrize("shared", [False, True])
def test_input_that_changes_while_the_job_runs_fails_the_job(root: Path, *, shared: bool) -> None:
    """The tool is not blamed, as it can only read the input in the sandbox."""
    file, own = write_large_input(root), write_input(root / "in" / "a.dat")
    runner = Runner(root.parent / "contained", settings={"sandbox": get_sandbox()})
    task_ = make_task(root, WAITS)
    if shared:
        shared_input = file.model_copy(update={"port": "g"})
        executable = WAITS | {"inputs": {"f": "File", "g": "File"}}
        task_ = make_task(root, executable, side_ports=["g"], shared_inputs=[shared_input])
    try:
        runner.submit(task_, make_job(task_, [own if shared else file], job_id=7002))
        started_file = wait_for(runner, "begun")
        with Path(file.url.removeprefix("file://")).open("ab") as changed:
            changed.write(b"more")
        started_file.with_name("go").touch()
        error_class, message = get_error(runner.wait_for_end().report)
    finally:
        runner.close()
    assert error_class is ErrorClass.CHECKSUM_MISMATCH
    assert message.startswith("an input changed while the job ran, and not by its tool")
    assert f"input file 'large.dat', {file.url}" in message


@pytest.mark.parametrize(("content", "is_damaged"), [(b"other", True), (None, False)])
def test_input_that_was_replaced_behind_a_symbolic_link_is_detected(
    root: Path, content: bytes | None, *, is_damaged: bool
) -> None:
    """Inputs on another file system are symbolic links. A replacement with the same content is no
    change."""
    file = write_large_input(root)
    path = Path(file.url.removeprefix("file://"))
    protected = ProtectedInputs(SpareFiles(str(root / "spare")))
    (root / "link").symlink_to(path)
    protected.record_link(file.name, file.url, str(root / "link"), checksum=file.checksum)
    (root / "new").write_bytes(path.read_bytes() if content is None else content)
    (root / "new").rename(path)
    assert (protected.find_damage(tool_may_write=False) is not None) == is_damaged


@pytest.mark.parametrize("shared", [False, True])
def test_input_that_changed_between_two_jobs_fails_the_second(
    runner: Runner, root: Path, *, shared: bool
) -> None:
    file, own = write_large_input(root), write_input(root / "in" / "a.dat")
    task_ = make_task(root, READ)
    if shared:
        executable = READ | {"inputs": {"f": "File", "g": "File"}}
        shared_input = file.model_copy(update={"port": "g"})
        task_ = make_task(root, executable, side_ports=["g"], shared_inputs=[shared_input])
    inputs = [own if shared else file]
    assert run(runner, task_, inputs, seq=0).outcome is AttemptOutcome.FINISHED
    with Path(file.url.removeprefix("file://")).open("r+b") as changed:
        changed.write(b"other")
    error_class, message = get_error(run(runner, task_, inputs, seq=1))
    assert error_class is ErrorClass.CHECKSUM_MISMATCH
    assert "input file 'large.dat' is not the one registered" in message


@ONLY_READ
def test_log_of_a_canceled_job_names_the_changed_input(runner: Runner, root: Path) -> None:
    writes = make_tool(
        ["sh", "-c", 'echo more >> "$0"; touch written; sleep 600'],
        arguments=["$(inputs.f.path)"],
    )
    task_ = make_task(root, writes)
    running = make_job(task_, [write_large_input(root)], job_id=7001)
    runner.submit(task_, running)
    wait_for(runner, "written")
    runner.stop_job(running, StopReason.CANCEL)
    report = runner.wait_for_end().report
    assert report.outcome is AttemptOutcome.CANCELED
    assert "input file 'large.dat'" in read_log(report)


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("is_shared", [False, True])
def test_tool_with_in_place_updates_gets_a_copy_of_its_input(
    runner: Runner, root: Path, *, inside: bool, is_shared: bool
) -> None:
    file = write_large_input(root)
    executable: dict[str, Any] = (
        wrap_in_workflow(IN_PLACE, mode="File") if inside else deepcopy(IN_PLACE)
    )
    data_port, main_inputs = ("f", [file])
    fields: dict[str, Any] = {}
    if is_shared:  # The changed file is a shared input of the task.
        executable["inputs"]["own"] = {"type": "File"}
        data_port, main_inputs = "own", [write_input(root / "in" / "a.dat")]
        fields = {"side_ports": ["f"], "shared_inputs": [file.model_copy(update={"port": "f"})]}
    task_ = make_task(root, executable, dat_in_port=data_port, **fields)
    for number in range(2):
        report = run(runner, task_, main_inputs, seq=number)
        assert report.outcome is AttemptOutcome.FINISHED, report.message
        assert read_file(report.outputs[0].url) == bytes(MAX_COPIED + 1) + b"more\n"
        assert read_file(file.url) == bytes(MAX_COPIED + 1)


def test_in_place_updates_are_recognized_in_both_forms_of_requirements() -> None:
    assert changes_inputs(wrap_in_workflow(IN_PLACE))
    assert changes_inputs({"hints": [{"class": "InplaceUpdateRequirement", "inplaceUpdate": True}]})
    assert not changes_inputs(
        {"requirements": [{"class": "InplaceUpdateRequirement", "inplaceUpdate": False}]}
    )
    assert not changes_inputs(
        {"requirements": {"InplaceUpdateRequirement": {"inplaceUpdate": False}}}
    )
    assert not changes_inputs(wrap_in_workflow(READ))
