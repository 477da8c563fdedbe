"""One system without containers for all tests of the runner's interface."""

from collections.abc import Iterator

import pytest

from tests.e2e.systems import live_system


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLUICE_PILOT_CONTAINERS", "[]")
        with live_system() as system:
            yield system.url
