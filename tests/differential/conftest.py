"""One system for all comparisons except those in containers."""

from collections.abc import Iterator

import pytest

from tests.e2e.systems import LiveSystem, run_live_system


@pytest.fixture(scope="package")
def system() -> Iterator[LiveSystem]:
    with run_live_system() as system:
        yield system
