"""An operator service with fake neighbours."""

from collections.abc import AsyncIterator

import pytest

from tests.integration.operator.conftest import Operator, operating


@pytest.fixture
async def operator(database_url: str) -> AsyncIterator[Operator]:
    async with operating(database_url) as operator:
        yield operator
