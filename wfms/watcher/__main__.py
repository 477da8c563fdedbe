"""The task watcher as a process: ``python -m wfms.watcher`` or ``sluice serve watcher``.

Its settings come from ``SLUICE_WATCHER_…``.
"""

from typing import TYPE_CHECKING

from sluice.servicekit.running.process import Parts, run_service

if TYPE_CHECKING:
    from wfms.watcher.settings import WatcherSettings


def main() -> None:
    """Run the service."""
    run_service("wfms.watcher", _load)


def _load() -> "Parts[WatcherSettings]":
    from wfms.watcher.settings import WatcherSettings  # noqa: PLC0415 - see run_service
    from wfms.watcher.wiring import build  # noqa: PLC0415 - see run_service

    return WatcherSettings, build


if __name__ == "__main__":
    main()
