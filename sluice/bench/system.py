"""An embedded system of its own for the time of a benchmark."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sluice.cli.commands.up import start_detached, stop
from sluice.embedded.home import Home


@contextmanager
def fresh_system(*options: str) -> Iterator[tuple[str, Path]]:
    """(address, home folder) of a system that is stopped and removed at the end."""
    with tempfile.TemporaryDirectory(prefix="sluice-bench-") as folder:
        home = Home(Path(folder))
        running = start_detached(
            home, ["--port", "0", "--log-level", "WARNING", *options], ours=True
        )
        try:
            yield running.url, home.root
        finally:
            stop(running)
