"""An operator service with fake neighbours."""

from collections.abc import AsyncIterator

import pytest

from tests.integration.operator.conftest import Operator, run_operator


@pytest.fixture
async def operator(database_url: str) -> AsyncIterator[Operator]:
    async with run_operator(database_url) as operator:
        yield operator
