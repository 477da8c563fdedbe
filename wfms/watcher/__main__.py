"""``python -m wfms.watcher``, ``sluice serve watcher``: the task watcher as a process, settings
from ``SLUICE_WATCHER_…``.
"""

from typing import TYPE_CHECKING

from sluice.servicekit.process import Parts, run_service

if TYPE_CHECKING:
    from wfms.watcher.settings import WatcherSettings


def main() -> None:
    run_service("wfms.watcher", _load)


def _load() -> "Parts[WatcherSettings]":
    from wfms.watcher.settings import WatcherSettings  # noqa: PLC0415 - see run_service
    from wfms.watcher.wiring import build  # noqa: PLC0415 - see run_service

    return WatcherSettings, build


if __name__ == "__main__":
    main()
