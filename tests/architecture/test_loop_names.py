"""A background loop is called ``<service>.<function that it runs>``."""

import functools
from collections.abc import Iterator

import pytest

from scripts.docs.services import build_service
from sluice.contracts.access.services import SERVICES
from sluice.servicekit.running.loop import Loops


def list_declared_loops(service: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each loop of a service, and of the function that it runs."""
    for component in build_service(service).components:
        if isinstance(component, Loops):
            for name, (loop, *_) in component.by_name.items():
                function = loop.tick
                while isinstance(function, functools.partial):
                    function = function.func
                yield name, function.__name__.removeprefix("_")


@pytest.mark.parametrize("service", SERVICES)
def test_loops_have_the_name_of_their_service_and_function(service: str) -> None:
    prefix = service.removeprefix("wfms.")
    loops = list(list_declared_loops(service))
    assert loops, "no loops were found"
    assert [name for name, _ in loops] == [f"{prefix}.{function}" for _, function in loops]
