"""The system that a command uses: the running one, or one that is started for it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sluice.cli.system import System
from sluice.clientkit.output import err
from sluice.embedded.home import Home
from sluice.embedded.process import use_or_start_system


@dataclass(frozen=True, slots=True)
class RunSystem:
    """The system to use. ``ends_with_us`` says whether it ends with this command."""

    url: str
    ends_with_us: bool


@contextmanager
def provide_system(system: System) -> Iterator[RunSystem]:
    """Provide the system to use. One that was started for commands stops after the last one."""
    if system.url is not None:
        yield RunSystem(system.url.rstrip("/"), ends_with_us=False)
        return
    with use_or_start_system(
        Home(system.home), on_start=lambda: err.print("starting an embedded system …")
    ) as embedded:
        yield RunSystem(embedded.url, ends_with_us=embedded.started)
