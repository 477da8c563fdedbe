"""Data sets for which the intake has not started a chain."""

from uuid import UUID

import pytest

from tests.integration.operator.conftest import Operator
from tests.integration.operator.data.unmatched_datasets import store_unmatched_datasets


@pytest.fixture
async def waiting(operator: Operator) -> dict[str, UUID]:
    """Return unmatched data sets by name."""
    return await store_unmatched_datasets(operator)
