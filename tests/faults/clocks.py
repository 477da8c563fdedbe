"""Clocks that jump: each service's processes see the time through libfaketime, with an offset that
a file holds.

Only the wall clock is faked; the monotonic clocks, which time-outs are measured with, are those of
the machine, as they are when a machine's time is set. Pilots are left out: under libfaketime 0.9.10
a ``time.sleep`` on the monotonic clock fails, which they use and the services do not. The library
is looked for where Debian's package puts it, and where ``scripts/install-faketime.sh`` does.
"""

from collections.abc import Iterable
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_PLACES = ("usr/lib/*/faketime/libfaketimeMT.so.1",)


#: What the library leaves here when its process is killed; it takes offence at finding it when a
#: process number comes again.
_SHARED = Path("/dev/shm")


class NoFakeTime(RuntimeError):
    def __init__(self) -> None:
        super().__init__(
            "libfaketime is not there, so no clock can jump: run scripts/install-faketime.sh"
        )


class Clocks:
    """``folder``: where the offsets lie, one file for each service. Raises ``NoFakeTime``."""

    def __init__(self, folder: Path, services: Iterable[str]) -> None:
        self._folder = folder
        self._library = find_library()
        folder.mkdir(parents=True, exist_ok=True)
        for service in services:
            self.set(service, 0.0)

    def environment(self, service: str) -> dict[str, str]:
        """For the processes of the service."""
        return {
            "LD_PRELOAD": str(self._library),
            "FAKETIME_TIMESTAMP_FILE": str(self._folder / service),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }

    def sweep(self) -> None:
        """Removes what the library left behind for processes that have gone."""
        for path in _SHARED.glob("*faketime_s*_*"):
            if not Path(f"/proc/{path.name.rpartition('_')[2]}").exists():
                path.unlink(missing_ok=True)

    def set(self, service: str, offset: float) -> None:
        """Seconds that the service's clock is ahead. Noticed within a second."""
        part = self._folder / f".{service}"
        part.write_text(f"{offset:+.0f}s\n")
        part.replace(self._folder / service)


def find_library() -> Path:
    for root in (Path("/"), _ROOT / "var" / "faketime"):
        for place in _PLACES:
            found = sorted(root.glob(place))
            if found:
                return found[0]
    raise NoFakeTime
