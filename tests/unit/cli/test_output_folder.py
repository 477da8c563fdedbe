"""Checks of the output folder before a command starts."""

from pathlib import Path

import pytest

from sluice.cli.transfer.output_folder import FilesExist, require_folder
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
