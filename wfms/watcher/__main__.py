"""``python -m wfms.watcher``: the task watcher as a process, settings from ``SLUICE_WATCHER_…``."""

from sluice.servicekit.service import run_service
from wfms.watcher.settings import WatcherSettings
from wfms.watcher.wiring import NAME, build

if __name__ == "__main__":
    run_service(NAME, WatcherSettings(), build)
