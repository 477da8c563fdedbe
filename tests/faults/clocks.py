"""Make the wall clocks of services jump with libfaketime.

Processes read the offset from a file. Monotonic clocks, which measure timeouts, are those of the
machine, as when somebody sets the time. Pilots are left out, as ``time.sleep`` on the monotonic
clock fails under libfaketime 0.9.10. The library is searched for where Debian's package and
``scripts/install-faketime.sh`` install it.
"""

from collections.abc import Iterable
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_PLACES = ("usr/lib/*/faketime/libfaketimeMT.so.1",)


#: The library leaves files here when its process is killed, and fails if a process id is used
#: again.
_SHARED = Path("/dev/shm")


class NoFakeTime(RuntimeError):
    def __init__(self) -> None:
        super().__init__(
            "libfaketime is not there, so no clock can jump: run scripts/install-faketime.sh"
        )


class Clocks:
    """Settable clocks; ``folder`` has a file with the offset for each service.

    Raises ``NoFakeTime``.
    """

    def __init__(self, folder: Path, services: Iterable[str]) -> None:
        self._folder = folder
        self._library = find_library()
        folder.mkdir(parents=True, exist_ok=True)
        for service in services:
            self.set_offset(service, 0.0)

    def environment(self, service: str) -> dict[str, str]:
        """Return the environment for the processes of the service."""
        return {
            "LD_PRELOAD": str(self._library),
            "FAKETIME_TIMESTAMP_FILE": str(self._folder / service),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }

    def remove_leftover_files(self) -> None:
        """Remove the files that the library left for ended processes."""
        for path in _SHARED.glob("*faketime_s*_*"):
            if not Path(f"/proc/{path.name.rpartition('_')[2]}").exists():
                path.unlink(missing_ok=True)

    def set_offset(self, service: str, offset: float) -> None:
        """Set how many seconds the service's clock is ahead; it takes effect within a second."""
        part = self._folder / f".{service}"
        part.write_text(f"{offset:+.0f}s\n")
        part.replace(self._folder / service)


def find_library() -> Path:
    for root in (Path("/"), _ROOT / "var" / "faketime"):
        for place in _PLACES:
            libraries = sorted(root.glob(place))
            if libraries:
                return libraries[0]
    raise NoFakeTime
