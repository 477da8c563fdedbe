"""Tests of how the disk usage of a job is measured."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from pilot.folders.ownership import PASSAGE
from pilot.runner.programs.disk import folder_size
from tests.unit.pilot.runner.programs.other_programs import start_program

_NOBODY = 65534
_LOOKS = """
import os, sys
from pilot.runner.programs.disk import folder_size
os.setuid(int(sys.argv[2]))
print(folder_size(sys.argv[1]))
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a folder that every user can enter."""
    with TemporaryDirectory() as path:
        os.chmod(path, PASSAGE)
        inner = Path(path) / "job"
        inner.mkdir()
        yield inner


@pytest.mark.parametrize("mode", [0, 0o400, 0o100], ids=oct)
def test_folder_without_permissions_is_measured(folder: Path, mode: int) -> None:
    """The measurement runs as another user, as root can enter any folder."""
    closed = folder / "closed"
    closed.mkdir()
    (closed / "large").write_bytes(bytes(4 << 20))
    user = _NOBODY if os.geteuid() == 0 else os.geteuid()
    for path in (folder, closed, closed / "large"):
        os.chown(path, user, -1)
    closed.chmod(mode)
    done = subprocess.run(
        [sys.executable, "-c", _LOOKS, folder, str(user)],
        cwd=Path.cwd(), capture_output=True, text=True, check=True,
        env={"PYTHONPATH": str(Path.cwd())},
    )  # fmt: skip
    assert float(done.stdout) >= 4


def test_links_are_not_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(bytes(4 << 20))
    (folder / "folder").symlink_to(tmp_path)
    (folder / "file").symlink_to(tmp_path / "large")
    assert folder_size(str(folder)) < 1


def test_measurement_stops_at_the_given_limit(folder: Path) -> None:
    for number in range(64):
        (folder / str(number)).touch()
    assert folder_size(str(folder)) == 64 * 4096 / (1 << 20)
    assert folder_size(str(folder), 0.1) == pytest.approx(0.1, abs=4096 / (1 << 20))


def test_file_with_several_names_counts_once(folder: Path) -> None:
    (folder / "large").write_bytes(bytes(4 << 20))
    (folder / "more").mkdir()
    for place in ("again", "more/again"):
        os.link(folder / "large", folder / place)
    assert folder_size(str(folder)) == pytest.approx(4, abs=0.1)


#: Renames a file or folder all the time.
_RENAMES = """
import os, sys
from itertools import count
before = sys.argv[1]
print(flush=True)
for number in count():
    name = f"{sys.argv[1]}{number}"
    os.rename(before, name)
    before = name
"""


@pytest.mark.parametrize("way", [["large"], ["a", "large"], ["a", "b", "large"]], ids=len)
def test_file_that_is_renamed_all_the_time_is_found(folder: Path, way: list[str]) -> None:
    """Most measurements find it, also where its parent folders are renamed among many others."""
    place = folder.joinpath(*way)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(bytes(16 << 20))
    for number in range(300):
        (folder / f"other{number}").mkdir()
    with ExitStack() as stack:
        for path in (place, *place.parents[: len(way) - 1]):
            stack.enter_context(start_program(_RENAMES, path.name, folder=path.parent))
        sizes = [folder_size(str(folder)) for _ in range(20)]
    assert sum(size > 16 for size in sizes) > 10, sizes
