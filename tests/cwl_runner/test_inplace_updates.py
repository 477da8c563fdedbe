"""Tools that change their input files run on the machine of `sluice cwl-runner`."""

import shutil
from pathlib import Path
from subprocess import CompletedProcess

from tests.cwl_runner.runners import PROGRAMS, TOOL, run_in, write_document

#: Exit status for unsupported features.
_UNSUPPORTED = 33
_APPEND = 'echo more >> "$0"'


def _run_workflow(folder: Path, script: str = _APPEND, **environment: str) -> CompletedProcess[str]:
    """Run a workflow whose tool changes two files of one line each, without a system."""
    tool = TOOL | {
        "id": "append",
        "baseCommand": ["sh", "-c", script],
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
    arguments = (
        write_document(folder, "changes.cwl", document),
        write_document(folder, "order.json", order),
    )
    command = ["sluice-cwl-runner", "--url", "http://127.0.0.1:1"]
    return run_in(folder, command, arguments, environment)


def _make_path_without_bubblewrap(folder: Path) -> str:
    """Return a PATH without bubblewrap."""
    programs = folder / "programs"
    programs.mkdir()
    for name in ("sh", "node"):
        (programs / name).symlink_to(str(shutil.which(name)))
    return f"{PROGRAMS}:{programs}"


def test_tool_changes_its_input_file_in_place_in_a_sandbox(tmp_path: Path) -> None:
    done = _run_workflow(tmp_path, SLUICE_PILOT_SANDBOX="required")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text() == "one\nmore\n"
    assert "InplaceUpdateRequirement" not in done.stderr


def test_tool_cannot_reach_other_files_of_the_caller(tmp_path: Path) -> None:
    (tmp_path / "another").write_text("private\n")
    names = ("another", "made", "changes.cwl")
    script = _APPEND + "".join(
        f'; cat {tmp_path}/{name} >> "$0"; echo x >> {tmp_path}/{name}' for name in names
    )
    done = _run_workflow(tmp_path, f"{script}; true", SLUICE_PILOT_SANDBOX="preferred")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a").read_text() == "one\nmore\n"
    assert (tmp_path / "another").read_text() == "private\n"
    assert not (tmp_path / "made").exists()


def test_missing_sandbox_is_reported_once(tmp_path: Path) -> None:
    done = _run_workflow(tmp_path, SLUICE_PILOT_SANDBOX="off")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "b").read_text() == "one\nmore\n"
    assert done.stderr.count("append: InplaceUpdateRequirement is on, so the tool runs") == 1
    assert "without a sandbox: the pilot's sandbox is switched off" in done.stderr


def test_required_but_missing_sandbox_is_refused(tmp_path: Path) -> None:
    path = _make_path_without_bubblewrap(tmp_path)
    done = _run_workflow(tmp_path, SLUICE_PILOT_SANDBOX="required", PATH=path)
    assert done.returncode == _UNSUPPORTED, done.stderr
    assert "SLUICE_PILOT_SANDBOX is required, but there is no bubblewrap" in done.stderr
    assert (tmp_path / "a").read_text() == "one\n"
