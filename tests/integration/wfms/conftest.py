"""A fresh `World` for each test, on copies of databases that are migrated once."""

import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from sluice.servicekit.migrate import Migrator
from tests.integration.wfms.world import MakeMigrated, World
from tests.servers.postgres import PostgresServer


@pytest.fixture(scope="session")
def migrated() -> dict[str, str]:
    """Map a package of revisions to the name of a database that has them."""
    return {}


@pytest.fixture
async def make_migrated(
    postgres_server: PostgresServer, migrated: dict[str, str]
) -> AsyncIterator[MakeMigrated]:
    """Yield a function that returns the URL of a new migrated database.

    All of them are dropped after the test.
    """
    admin = await asyncpg.connect(postgres_server.url())
    made: list[str] = []

    async def make(versions: str) -> str:
        if versions not in migrated:
            original = f"migrated_{uuid.uuid4().hex[:12]}"
            await admin.execute(f"CREATE DATABASE {original}")
            await Migrator(postgres_server.url(original), versions).start()
            migrated[versions] = original
        name = f"copy_{uuid.uuid4().hex[:12]}"
        await admin.execute(f"CREATE DATABASE {name} TEMPLATE {migrated[versions]}")
        made.append(name)
        return postgres_server.url(name)

    try:
        yield make
    finally:
        for name in made:
            await admin.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        await admin.close()


@pytest.fixture
async def world(make_migrated: MakeMigrated, tmp_path: Path) -> AsyncIterator[World]:
    world = World(tmp_path)
    await world.open(make_migrated)
    try:
        yield world
    finally:
        world.fuse.at = None
        await world.close()
