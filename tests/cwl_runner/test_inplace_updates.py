"""Tools that change their input files, which runs on the machine of `sluice cwl-runner`."""

from pathlib import Path
from subprocess import CompletedProcess

from tests.cwl_runner.runners import TOOL, run_in, write

#: Of the command, where something is not supported.
_UNSUPPORTED = 33


def _run(folder: Path, **environment: str) -> CompletedProcess[str]:
    """A workflow that has a tool change two files, each with a line, on no system."""
    tool = TOOL | {
        "id": "append",
        "baseCommand": ["sh", "-c", 'echo more >> "$0"'],
        "inputs": {"file": {"type": "File", "inputBinding": {}}},
        "requirements": {
            "InplaceUpdateRequirement": {"inplaceUpdate": True},
            "InitialWorkDirRequirement": {
                "listing": [{"entry": "$(inputs.file)", "writable": True}]
            },
        },
        "outputs": {},
    }
    del tool["stdout"]
    names = ("a", "b")
    for name in names:
        (folder / name).write_text("one\n")
    document = {
        "cwlVersion": "v1.2",
        "class": "Workflow",
        "requirements": {"ScatterFeatureRequirement": {}},
        "inputs": {"files": "File[]"},
        "outputs": {},
        "steps": {
            "append": {"run": tool, "scatter": "file", "in": {"file": "files"}, "out": []},
        },
    }
    order = {"files": [{"class": "File", "path": str(folder / name)} for name in names]}
    arguments = (write(folder, "changes.cwl", document), write(folder, "order.json", order))
    command = ["sluice-cwl-runner", "--url", "http://127.0.0.1:1"]
    return run_in(folder, command, arguments, environment)


def test_that_it_runs_without_a_sandbox_is_said_once(tmp_path: Path) -> None:
    done = _run(tmp_path, SLUICE_PILOT_SANDBOX="preferred")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "b").read_text() == "one\nmore\n"
    assert done.stderr.count("append: InplaceUpdateRequirement is on, so the tool runs") == 1
    assert "with your rights and without a sandbox" in done.stderr


def test_where_a_sandbox_is_required_it_is_refused(tmp_path: Path) -> None:
    done = _run(tmp_path, SLUICE_PILOT_SANDBOX="required")
    assert done.returncode == _UNSUPPORTED, done.stderr
    assert "append: a tool whose InplaceUpdateRequirement is on" in done.stderr
    assert "SLUICE_PILOT_SANDBOX=required forbids" in done.stderr
    assert (tmp_path / "a").read_text() == "one\n"
