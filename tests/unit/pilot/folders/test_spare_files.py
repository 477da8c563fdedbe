"""Tests of spare files: copies of inputs overwrite old copies, and a job never sees data of an
earlier job."""

import os
import subprocess
from pathlib import Path

import pytest

from pilot.folders.spare_files import SpareFiles
from sluice.contracts.common.states import AttemptOutcome
from tests.unit.pilot.attempts import run
from tests.unit.pilot.builders import make_task, make_tool, write_input
from tests.unit.pilot.slot_runner import Runner

#: Commands of a tool. "$0" is its input and "$1" is a file elsewhere.
TOOL_COMMANDS = [
    pytest.param(":", id="reads it"),
    pytest.param('head -c 9999 /dev/zero >> "$0"', id="makes it longer"),
    pytest.param(': > "$0"', id="empties it"),
    pytest.param(
        'rm "$1"; ln "$0" "$1"',
        id="keeps it by another name",
        marks=pytest.mark.in_the_open("there is no elsewhere"),
    ),
    pytest.param('chmod 400 "$0"', id="takes rights away"),
    pytest.param('chmod 777 "$0"', id="gives rights away"),
    pytest.param('rm "$0"', id="removes it"),
    pytest.param('ln -sf "$1" "$0"', id="puts a link there"),
]


@pytest.mark.parametrize("tool_command", TOOL_COMMANDS)
def test_inputs_of_the_next_job_have_no_data_of_the_previous_job(
    runner: Runner, root: Path, tmp_path: Path, tool_command: str
) -> None:
    (elsewhere := tmp_path / "elsewhere").write_text("untouched")
    first = make_tool(
        ["sh", "-c", tool_command],
        arguments=["$(inputs.f.path)", str(elsewhere)],
        requirements={"InplaceUpdateRequirement": {"inplaceUpdate": True}},
    )
    report = run(
        runner,
        make_task(root, first),
        [write_input(root / "in" / "a.dat", data=b"a longer content, of the first job")],
    )
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    remaining_bytes = elsewhere.read_bytes()
    second = make_tool(["sh", "-c", 'cat "$0"; stat -c %a "$0"'], arguments=["$(inputs.f.path)"])
    report = run(
        runner,
        make_task(root, second),
        [write_input(root / "in" / "b.dat", data=b"short\n")],
        seq=1,
    )
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    umask = os.umask(0)
    os.umask(umask)
    assert (
        Path(report.outputs[0].url.removeprefix("file://")).read_text()
        == f"short\n{0o666 & ~umask:o}\n"
    )
    assert elsewhere.read_bytes() == remaining_bytes


def test_next_job_reuses_the_file_of_the_previous_input(runner: Runner, root: Path) -> None:
    inodes = []
    for number in range(2):
        reading = make_task(root, make_tool(["stat", "-c", "%i"], arguments=["$(inputs.f.path)"]))
        report = run(
            runner, reading, [write_input(root / "in" / f"{number}.dat", data=b"one")], seq=number
        )
        inodes.append(Path(report.outputs[0].url.removeprefix("file://")).read_text())
    assert inodes[0] == inodes[1]


def test_large_files_and_files_beyond_the_limit_are_not_kept(tmp_path: Path) -> None:
    spares = SpareFiles(str(tmp_path / "spare"))
    (jobs := tmp_path / "in").mkdir()
    for number in range(400):
        (jobs / f"{number}.small").write_bytes(bytes(200_000))
    (jobs / "large").write_bytes(bytes(300_000))
    with os.scandir(jobs) as entries:
        accepted_names = [entry.name for entry in entries if spares.add(entry)]
    assert "large" not in accepted_names
    assert 300 < len(accepted_names) < 400
    assert sum(path.stat().st_size for path in (tmp_path / "spare").iterdir()) <= 64 << 20
    for number in range(len(accepted_names)):
        assert spares.reuse(f"{tmp_path}/{number}")
    assert not spares.reuse(f"{tmp_path}/more")
    assert len(list(tmp_path.glob("[0-9]*"))) == len(accepted_names)


def test_empty_spare_files_count_towards_the_limit(tmp_path: Path) -> None:
    spares = SpareFiles(str(tmp_path / "spare"))
    (jobs := tmp_path / "in").mkdir()
    for number in range(20_000):
        (jobs / str(number)).touch()
    with os.scandir(jobs) as entries:
        assert sum(map(spares.add, entries)) == (64 << 20) // 4096


def test_preallocated_blocks_of_a_file_count_towards_the_limit(tmp_path: Path) -> None:
    spares = SpareFiles(str(tmp_path / "spare"))
    (jobs := tmp_path / "in").mkdir()
    (jobs / "large").touch()
    subprocess.run(["fallocate", "--keep-size", "-l", "1MiB", jobs / "large"], check=True)
    with os.scandir(jobs) as entries:
        assert not any(map(spares.add, entries))
