"""The chain service as a process: ``python -m wfms.chains`` or ``sluice serve chains``."""

from sluice.contracts.access.services import CallingService
from sluice.servicekit.running.process import run_service

if __name__ == "__main__":
    run_service(CallingService.CHAINS)
