"""A fresh `World` for each test, on copies of databases that are migrated once."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.conftest import DatabaseFactory
from tests.integration.wfms.world import World


@pytest.fixture
async def world(make_database: DatabaseFactory, tmp_path: Path) -> AsyncIterator[World]:
    world = World(tmp_path)
    await world.open(make_database)
    try:
        yield world
    finally:
        world.fuse.at = None
        await world.close()
