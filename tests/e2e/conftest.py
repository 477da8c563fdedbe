"""The systems that scenarios run on: the embedded one, started for each test, and the stack, shared by all."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from tests.e2e.stack_system import StackSystem, stack_system
from tests.e2e.systems import LiveSystem, System, live_system

StartSystem = Callable[..., AbstractContextManager[System]]

#: For scenarios that run on both; those of one group run one after the other, in one process.
BOTH = [
    pytest.param("embedded", marks=pytest.mark.xdist_group("e2e-embedded")),
    pytest.param("stack", marks=pytest.mark.xdist_group("e2e-stack")),
]


@pytest.fixture(scope="package")
def system() -> Iterator[LiveSystem]:
    """For the tests of the command, which share it."""
    with live_system("--pilots", "1", "--slots", "2") as system:
        yield system


@pytest.fixture(scope="session")
def stack() -> Iterator[StackSystem]:
    with stack_system() as system:
        yield system


@pytest.fixture(params=BOTH)
def start_system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> StartSystem:
    """Starts a system with options for the embedded one; the stack is there already."""
    if request.param == "embedded":
        return live_system
    stack: StackSystem = request.getfixturevalue("stack")
    monkeypatch.setenv("SLUICE_DMS_URL", stack.dms_url)

    @contextmanager
    def shared(*_options: str) -> Iterator[System]:
        try:
            yield stack.start_again()
        except BaseException:
            print(stack.errors())
            raise

    return shared
