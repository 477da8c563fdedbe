"""The systems of the scenarios: the embedded system and the stack, each started once."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial

import pytest

from tests.e2e.stack_system import StackSystem, run_stack_system
from tests.e2e.systems import LiveSystem, System, run_live_system

Scene = Callable[[], AbstractContextManager[System]]

#: For scenarios that run on both systems; tests of one group run one after the other in one
#: process.
BOTH = [
    pytest.param(
        "embedded",
        marks=[
            pytest.mark.xdist_group("e2e-embedded"),
            pytest.mark.long(
                "runs on the stack, too; tests/e2e/test_up_and_down.py kills an embedded system"
            ),
        ],
    ),
    pytest.param("stack", marks=pytest.mark.xdist_group("e2e-stack")),
]


@pytest.fixture(scope="package")
def system() -> Iterator[LiveSystem]:
    """Yield a system that the tests of the command share.

    Tools of some tests write files outside, so that they run without a sandbox.
    """
    with run_live_system(environment={"SLUICE_PILOT_SANDBOX": "off"}) as system:
        yield system


@pytest.fixture(scope="package")
def stack() -> Iterator[StackSystem]:
    with run_stack_system() as system:
        yield system


@pytest.fixture(scope="package")
def embedded() -> Iterator[LiveSystem]:
    with run_live_system() as system:
        yield system


@contextmanager
def print_errors_on_failure(system: System) -> Iterator[System]:
    """Print the errors in the logs of the system if the scenario fails."""
    try:
        yield system
    except BaseException:
        print(system.errors())
        raise


@pytest.fixture(params=BOTH)
def scene(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """Return a function that opens the system of a scenario, which others have used before."""
    if request.param == "embedded":
        return partial(print_errors_on_failure, request.getfixturevalue("embedded"))
    stack: StackSystem = request.getfixturevalue("stack")
    monkeypatch.setenv("SLUICE_DMS_URL", stack.dms_url)
    return lambda: print_errors_on_failure(stack.start_again())
