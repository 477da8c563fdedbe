import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.servers.network_postgres import NetworkPostgres, make_network_postgres


@pytest.fixture
async def postgres() -> AsyncIterator[NetworkPostgres]:
    """A running server with passwords."""
    server = await asyncio.to_thread(make_network_postgres)
    await server.start()
    yield server
    await server.remove()
