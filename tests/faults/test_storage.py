"""Tests of the file system of limited size."""

from pathlib import Path

from tests.faults.storage import SmallDisk


def test_disk_of_a_killed_campaign_is_replaced(tmp_path: Path) -> None:
    SmallDisk(tmp_path / "data", megabytes=1)

    SmallDisk(tmp_path / "data", megabytes=1).close()

    assert not (tmp_path / "data").is_mount()
