"""How much of the disk a job uses, whatever hides it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from pilot.folders.ownership import PASSAGE
from pilot.runner.programs.disk import folder_size, nameless_size

_NOBODY = 65534
_LOOKS = """
import sys
from pilot.runner.programs.disk import folder_size
print(folder_size(sys.argv[1]))
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """That anybody can get to."""
    with TemporaryDirectory() as path:
        os.chmod(path, PASSAGE)
        inner = Path(path) / "job"
        inner.mkdir()
        yield inner


def test_a_folder_that_is_closed_is_looked_into(folder: Path) -> None:
    """Root gets into any."""
    closed = folder / "closed"
    closed.mkdir()
    (closed / "large").write_bytes(bytes(4 << 20))
    closed.chmod(0)
    user = _NOBODY if os.geteuid() == 0 else os.geteuid()
    for path in (folder, closed, closed / "large"):
        os.chown(path, user, -1)
    done = subprocess.run(
        [sys.executable, "-c", _LOOKS, folder],
        user=user, cwd=Path.cwd(), capture_output=True, text=True, check=True,
        env={"PYTHONPATH": str(Path.cwd())},
    )  # fmt: skip
    assert float(done.stdout) >= 4


def test_no_link_is_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(bytes(4 << 20))
    (folder / "folder").symlink_to(tmp_path)
    (folder / "file").symlink_to(tmp_path / "large")
    assert folder_size(str(folder)) < 1


def test_it_stops_where_it_is_enough(folder: Path) -> None:
    for number in range(64):
        (folder / str(number)).touch()
    assert folder_size(str(folder)) == 64 * 4096 / (1 << 20)
    assert folder_size(str(folder), 0.1) == pytest.approx(0.1, abs=4096 / (1 << 20))


def test_files_without_a_name_count_once_and_on_this_disk_alone(folder: Path) -> None:
    before = nameless_size(os.getpid(), str(folder))
    memory = os.memfd_create("memory")
    os.write(memory, bytes(2 << 20))
    with (folder / "large").open("wb") as file:
        file.write(bytes(4 << 20))
        file.flush()
        again = os.dup(file.fileno())
        assert nameless_size(os.getpid(), str(folder)) == before
        (folder / "large").unlink()
        assert nameless_size(os.getpid(), str(folder)) - before == pytest.approx(4, abs=0.1)
    os.close(again)
    os.close(memory)
