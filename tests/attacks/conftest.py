from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attacks.access.two_groups import (
    GroupObjects,
    Member,
    create_group_objects,
    create_member,
)
from tests.e2e.systems import LiveSystem, run_live_system
from tests.unit.pilot.slot_runner import Runner, open_slot_server


@pytest.fixture(scope="module")
def group_system() -> Iterator[LiveSystem]:
    with run_live_system("--pilots", "1") as running:
        yield running


@pytest.fixture(scope="module")
def objects(group_system: LiveSystem) -> GroupObjects:
    return create_group_objects(group_system, create_member(group_system, "alpha"))


@pytest.fixture(scope="module")
def other_member(group_system: LiveSystem, objects: GroupObjects) -> Member:
    return create_member(group_system, "beta")


@pytest.fixture(scope="module")
def outsider(group_system: LiveSystem, objects: GroupObjects) -> Member:
    """Return a member of a group that owns nothing."""
    return create_member(group_system, "gamma")


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
