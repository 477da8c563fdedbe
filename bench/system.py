"""A temporary embedded system for a benchmark."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sluice.embedded.home import Home
from sluice.embedded.process import use_or_start_system
from sluice.embedded.readiness import require_pilots


@contextmanager
def fresh_system(*options: str, **settings: str) -> Iterator[tuple[str, Path]]:
    """Yield address and home folder of a system that is stopped and removed at the end.

    ``settings`` are variables of its environment. Its tools find the programs beside this Python
    first.

    Raises:
        OSError: The system does not start, or none of its pilots does.
    """
    settings["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory(prefix="sluice-bench-") as folder:
        home = Home(Path(folder))
        with use_or_start_system(
            home, "--log-level", "WARNING", *options, settings=settings
        ) as running:
            require_pilots(running.url)
            yield running.url, home.root
