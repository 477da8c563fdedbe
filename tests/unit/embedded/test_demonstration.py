"""The folder of a demonstration."""

from pathlib import Path

import pytest

from sluice.embedded.demonstration import demonstration_folder


def test_second_demonstration_in_a_folder_is_refused(
    tmp_path: Path,
) -> None:
    with demonstration_folder(tmp_path / "demo") as folder:
        (folder / "result").write_text("1")
        with pytest.raises(OSError, match="another demonstration is running in this folder"):
            demonstration_folder(tmp_path / "demo").__enter__()
        assert (folder / "result").read_text() == "1"


def test_demonstration_begins_in_an_empty_folder(tmp_path: Path) -> None:
    (tmp_path / "demo" / "out").mkdir(parents=True)
    (tmp_path / "demo" / "out" / "old").write_text("")
    (tmp_path / "demo" / "link").symlink_to(tmp_path)
    with demonstration_folder(tmp_path / "demo") as folder:
        assert [path.name for path in folder.iterdir() if path.name != "lock"] == []
    assert tmp_path.exists()
