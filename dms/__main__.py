"""The DMS as a process: ``python -m dms`` or ``sluice serve dms``."""

from sluice.contracts.access.services import CallingService
from sluice.servicekit.running.process import run_service

if __name__ == "__main__":
    run_service(CallingService.DMS)
