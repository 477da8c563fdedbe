"""``python -m wfms.chains``: the chain service as a process, settings from ``SLUICE_CHAINS_…``."""

from sluice.servicekit.service import run_service
from wfms.chains.settings import ChainsSettings
from wfms.chains.wiring import NAME, build

if __name__ == "__main__":
    run_service(NAME, ChainsSettings(), build)
