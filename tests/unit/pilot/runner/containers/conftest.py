"""A slot that runs containers with Podman."""

from collections.abc import Iterator

import pytest

from pilot.node.engines import Engine
from tests.servers.podman import Podman
from tests.unit.pilot.runner.containers.podman_slot import find_podman, start_slot
from tests.unit.pilot.slot_runner import Runner


@pytest.fixture(scope="module")
def engine(podman: Podman) -> Engine:
    return find_podman(podman)


@pytest.fixture(scope="module")
def runner(
    podman: Podman, engine: Engine, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Runner]:
    runner = start_slot(podman, engine, tmp_path_factory.mktemp("node"))
    yield runner
    runner.close()


@pytest.fixture(autouse=True)
def no_containers_left(podman: Podman) -> Iterator[None]:
    yield
    assert podman.containers() == []
