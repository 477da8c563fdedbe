from collections.abc import Iterator

import pytest

from tests.attacks.access.two_groups import GroupObjects, Member, member, work_of
from tests.e2e.systems import LiveSystem, live_system
from tests.unit.pilot.conftest import root, runner, slot_server

__all__ = ["root", "runner", "slot_server"]


@pytest.fixture(scope="module")
def grouped() -> Iterator[LiveSystem]:
    with live_system("--pilots", "1") as running:
        yield running


@pytest.fixture(scope="module")
def hers(grouped: LiveSystem) -> GroupObjects:
    return work_of(grouped, member(grouped, "alpha"))


@pytest.fixture(scope="module")
def stranger(grouped: LiveSystem, hers: GroupObjects) -> Member:
    return member(grouped, "beta")


@pytest.fixture(scope="module")
def onlooker(grouped: LiveSystem, hers: GroupObjects) -> Member:
    """Return a member of a group that owns nothing."""
    return member(grouped, "gamma")
