"""The intake as a process: ``python -m wfms.intake`` or ``sluice serve intake``."""

from sluice.contracts.access.services import CallingService
from sluice.servicekit.running.process import run_service

if __name__ == "__main__":
    run_service(CallingService.INTAKE)
