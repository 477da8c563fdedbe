"""A world for each test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.integration.wfms.world import DatabaseFactory, World


@pytest.fixture
async def world(make_database: DatabaseFactory, tmp_path: Path) -> AsyncIterator[World]:
    world = World(tmp_path)
    await world.open(make_database)
    try:
        yield world
    finally:
        world.fuse.at = None
        await world.close()
