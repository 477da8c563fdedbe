"""The operator service as a process: ``python -m wfms.operator`` or ``sluice serve operator``."""

from sluice.contracts.access.services import CallingService
from sluice.servicekit.running.process import run_service

if __name__ == "__main__":
    run_service(CallingService.OPERATOR)
