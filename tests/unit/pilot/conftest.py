import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.pilot.slot_runner import Runner


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests that make no sense in the sandbox."""
    if not os.environ.get("SLUICE_TEST_SANDBOX"):
        return
    left = [item for item in items if item.get_closest_marker("in_the_open")]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if item not in left]


@pytest.fixture(scope="session")
def slot_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    """Start a server of slots with a secret in its environment that no tool may see."""
    runner = Runner(
        tmp_path_factory.mktemp("pilot"),
        environment={"SLUICE_SECRET": "hush", "PYTHONPATH": str(Path.cwd())},
    )
    yield runner
    runner.close()


@pytest.fixture(scope="module")
def runner(slot_server: Runner) -> Iterator[Runner]:
    """Yield a slot of its own for each module."""
    yield slot_server
    slot_server.replace_slot()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return the folder of the storages of the test."""
    return tmp_path / "store"
