"""Provide real services, once for each module, for comparison with their fakes."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.conftest import DatabaseFactory, open_temporary_databases
from tests.integration.fakes.real_services import RealServices, run_services
from tests.integration.fakes.two_services import FAKE, REAL
from tests.integration.wfms.wfms_fixture import WfmsFixture
from tests.servers.postgres import PostgresServer


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def make_module_database(postgres_server: PostgresServer) -> AsyncIterator[DatabaseFactory]:
    """Yield a function that creates databases, which are dropped after the module."""
    async with open_temporary_databases(postgres_server) as make:
        yield make


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def services(
    make_module_database: DatabaseFactory, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[RealServices]:
    """Yield a real WMS and a real DMS, without their loops."""
    folder: Path = tmp_path_factory.mktemp("storages")
    async with run_services(make_module_database, folder) as services:
        yield services


@pytest.fixture(params=[FAKE, REAL])
def kind(request: pytest.FixtureRequest) -> str:
    """Return which of the two services the test runs against."""
    return str(request.param)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def wfms(
    make_module_database: DatabaseFactory, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[WfmsFixture]:
    """Yield the real services of the WfMS, whose loops the tests run."""
    wfms = WfmsFixture(tmp_path_factory.mktemp("storages"))
    await wfms.open(make_module_database)
    yield wfms
    await wfms.close()
