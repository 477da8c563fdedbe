"""Parts that all demonstrations share: an exclusive folder and a separate system."""

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from filelock import FileLock, Timeout

from sluice.embedded.home import Home
from sluice.embedded.process import start_detached, stop_system
from sluice.embedded.readiness import require_pilots

#: The folder of the system, and the lock file, in the folder of a demonstration.
SYSTEM, _LOCK = "system", "lock"


@contextmanager
def demonstration_folder(folder: Path) -> Iterator[Path]:
    """Empty ``folder`` for one demonstration and stop a system that an earlier one left there.

    Raises:
        OSError: Another demonstration uses the folder, or it cannot be emptied.
    """
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / _LOCK)
    try:
        acquired_lock = lock.acquire(timeout=0)
    except Timeout:
        raise OSError(
            f"{folder}: another demonstration is running in this folder; wait until it ends, or"
            " choose another folder with --home"
        ) from None
    with acquired_lock:
        if (earlier := Home(folder / SYSTEM).running()) is not None:
            stop_system(earlier)
        for path in folder.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path.name != _LOCK:
                path.unlink()
        yield folder


@contextmanager
def demonstration_system(
    folder: Path,
    options: Sequence[str],
    *,
    keep: bool,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[str]:
    """Start a system in the folder of a demonstration and yield its address.

    Its pilots find the programs of this installation first, whichever environment is activated.
    It is stopped at the end unless ``keep`` is set.

    Raises:
        OSError: The system does not start, or none of its pilots does.
    """
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    settings = {"PATH": programs, **settings}
    running = start_detached(
        Home(folder / SYSTEM), [*options], ends_with_us=not keep, settings=settings
    )
    try:
        require_pilots(running.url)
    except BaseException:
        stop_system(running)
        raise
    try:
        yield running.url
    finally:
        if not keep:
            stop_system(running)
