"""A full file system of the home folder is named as the cause, and a reserve allows the start."""

import shutil
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import asyncpg
import pytest

from sluice.embedded.home import Home
from sluice.embedded.home_space import (
    RESERVE,
    create_reserve,
    has_no_space,
    use_reserve_when_full,
    with_cause,
)
from sluice.embedded.postgres import EmbeddedPostgres
from sluice.embedded.process import start_detached
from sluice.servicekit.running.lifecycle import running
from tests.faults.storage import SmallDisk
from tests.needs import ROOT_RIGHTS

#: MB of a file system with space for a database and the reserve.
DISK = 300

pytestmark = pytest.mark.needs(ROOT_RIGHTS)


@pytest.fixture
def disk() -> Iterator[SmallDisk]:
    folder = Path(tempfile.mkdtemp(prefix="sluice-small-"))
    disk = SmallDisk(folder, megabytes=DISK)
    if not disk.is_full:
        pytest.skip("cannot mount a file system on this machine")
    yield disk
    disk.close()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def home(disk: SmallDisk) -> Home:
    return Home(disk.folder)


def test_start_on_a_full_file_system_names_it_and_leaves_no_files(
    disk: SmallDisk, home: Home
) -> None:
    disk.fill()
    for _ in range(2):
        with pytest.raises(
            OSError, match=f"file system of the home folder {home.root} has no space"
        ):
            start_detached(home, ["--port", "0"])
    assert sum(path.name.startswith(("tmp", "system")) for path in home.root.iterdir()) <= 1


async def test_database_starts_on_a_full_file_system_with_the_reserve(
    disk: SmallDisk, home: Home
) -> None:
    home.open()
    home.close()
    postgres = EmbeddedPostgres(
        home.database, ["one"], before_start=partial(use_reserve_when_full, home.reserve)
    )
    async with running(postgres):
        create_reserve(home.reserve)
        assert home.reserve.stat().st_size == RESERVE
        disk.fill()
    async with running(postgres):
        connection = await asyncpg.connect(postgres.url("one"))
        await connection.execute("CREATE TABLE kept (number int)")
        await connection.close()
    assert not home.reserve.exists()
    create_reserve(home.reserve)
    assert not home.reserve.exists(), "a reserve was made without plenty of space"


def test_only_a_full_file_system_is_named_as_the_cause(home: Home) -> None:
    error = PermissionError(13, "Permission denied")
    assert with_cause(error, home.root) is error
    assert not has_no_space(home.root)
    described_error = with_cause(OSError(28, "No space left on device"), home.root)
    assert "has no space left" in str(described_error)
    assert str(described_error).endswith("(No space left on device)")
