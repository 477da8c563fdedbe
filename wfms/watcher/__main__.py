"""The task watcher as a process: ``python -m wfms.watcher`` or ``sluice serve watcher``."""

from sluice.contracts.access.services import CallingService
from sluice.servicekit.running.process import run_service

if __name__ == "__main__":
    run_service(CallingService.WATCHER)
