"""A fresh `WfmsFixture` for each test, on copies of databases that are migrated once."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.conftest import DatabaseFactory
from tests.integration.wfms.wfms_fixture import WfmsFixture


@pytest.fixture
async def wfms(make_database: DatabaseFactory, tmp_path: Path) -> AsyncIterator[WfmsFixture]:
    wfms = WfmsFixture(tmp_path)
    await wfms.open(make_database)
    try:
        yield wfms
    finally:
        wfms.fuse.at = None
        await wfms.close()
