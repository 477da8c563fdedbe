"""The service for human tasks as a process: ``python -m wfms.ask`` or ``sluice serve ask``."""

from sluice.contracts.access.services import CallingService
from sluice.servicekit.running.process import run_service

if __name__ == "__main__":
    run_service(CallingService.ASK)
