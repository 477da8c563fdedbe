"""The WMS as a process: ``python -m wms`` or ``sluice serve wms``."""

from sluice.contracts.access.services import CallingService
from sluice.servicekit.running.process import run_service

if __name__ == "__main__":
    run_service(CallingService.WMS)
