"""Checks of the output folder before a command starts."""

import subprocess
import sys
from pathlib import Path
from uuid import UUID

import pytest

from sluice.cli.commands.chains.chain_watch import OutputsNotWritten, name_chain_in_errors
from sluice.clientkit.transfer.output_folder import (
    FilesExist,
    FolderReserved,
    require_folder,
    reserve_folder,
)
from sluice.contracts.common.problems import Unprocessable


def test_existing_and_new_folders_are_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_folder(tmp_path, empty=True)
    require_folder(tmp_path / "new" / "deeper")
    monkeypatch.chdir(tmp_path)
    require_folder(Path("out"))
    assert list(tmp_path.iterdir()) == [], "the check must create nothing"
    (tmp_path / "old.txt").touch()
    require_folder(tmp_path)


def test_files_dangling_links_and_read_only_places_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "nowhere").symlink_to(tmp_path / "gone")
    with pytest.raises(Unprocessable, match="file is a file; name a folder"):
        require_folder(tmp_path / "file")
    with pytest.raises(Unprocessable, match=f"{tmp_path}/file is a file"):
        require_folder(tmp_path / "file" / "below")
    with pytest.raises(Unprocessable, match="is a link to nothing"):
        require_folder(tmp_path / "nowhere")
    with pytest.raises(Unprocessable, match="nothing can be written in /proc"):
        require_folder(Path("/proc/out"))


def test_folder_with_files_is_not_empty(tmp_path: Path) -> None:
    for number in range(7):
        (tmp_path / f"{number}.txt").touch()
    with pytest.raises(
        FilesExist,
        match=r"it has '0\.txt', '1\.txt', '2\.txt', '3\.txt', '4\.txt' and 2 more already",
    ):
        require_folder(tmp_path, empty=True)


def test_folder_is_reserved_for_one_command_at_a_time(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "out"
    with reserve_folder(folder, empty=True):
        with (
            pytest.raises(FolderReserved, match=f"--out {folder}: another command"),
            reserve_folder(folder, empty=False),
        ):
            pytest.fail("the folder is reserved")
        (folder / "result.txt").touch()
    with pytest.raises(FilesExist), reserve_folder(folder, empty=True):
        pytest.fail("the folder has files")
    with reserve_folder(folder, empty=False):
        assert (folder / "result.txt").exists()


def test_reservation_of_a_killed_command_is_gone(tmp_path: Path) -> None:
    reserve = (
        "import signal, sys\nfrom pathlib import Path\n"
        "from sluice.clientkit.transfer.output_folder import reserve_folder\n"
        "with reserve_folder(Path(sys.argv[1]), empty=True):\n"
        "    print('reserved', flush=True)\n"
        "    signal.pause()"
    )
    folder = tmp_path / "out"
    with subprocess.Popen(
        [sys.executable, "-c", reserve, str(folder)], stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        try:
            assert other.stdout.readline() == "reserved\n"
            with pytest.raises(FolderReserved), reserve_folder(folder, empty=True):
                pytest.fail("the other process has reserved the folder")
        finally:
            other.kill()
    with reserve_folder(folder, empty=True):
        pass


def test_folder_of_a_command_that_wrote_nothing_is_removed(tmp_path: Path) -> None:
    with reserve_folder(tmp_path / "new" / "out", empty=True):
        pass
    assert list(tmp_path.iterdir()) == []
    with reserve_folder(tmp_path, empty=True):
        pass
    assert tmp_path.exists(), "a folder that existed before must stay"


def test_outputs_that_cannot_be_written_can_be_fetched_later(tmp_path: Path) -> None:
    chain = UUID("01890000-0000-7000-8000-000000000000")
    for error in (FilesExist(tmp_path, [tmp_path / "a.txt"]), PermissionError(13, "refused")):
        with (
            pytest.raises(
                OutputsNotWritten,
                match=f"`sluice chain get {chain} --out OTHER --url http://there`",
            ),
            name_chain_in_errors(chain, ["--url", "http://there"]),
        ):
            raise error
