import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.pilot.slot_runner import Runner, open_slot_server


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests that make no sense in the sandbox."""
    if not os.environ.get("SLUICE_TEST_SANDBOX"):
        return
    left = [item for item in items if item.get_closest_marker("in_the_open")]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if item not in left]


@pytest.fixture(scope="session")
def slot_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    with open_slot_server(tmp_path_factory.mktemp("pilot")) as runner:
        yield runner


@pytest.fixture(scope="module")
def runner(slot_server: Runner) -> Iterator[Runner]:
    """Yield a slot of its own for each module."""
    yield slot_server
    slot_server.replace_slot()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return the folder of the storages of the test."""
    return tmp_path / "store"
