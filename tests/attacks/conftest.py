from collections.abc import Iterator

import pytest

from tests.attacks.access.two_groups import (
    GroupObjects,
    Member,
    create_group_objects,
    create_member,
)
from tests.e2e.systems import LiveSystem, live_system
from tests.unit.pilot.conftest import root, runner, slot_server

__all__ = ["root", "runner", "slot_server"]


@pytest.fixture(scope="module")
def group_system() -> Iterator[LiveSystem]:
    with live_system("--pilots", "1") as running:
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
