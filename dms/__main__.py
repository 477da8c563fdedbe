"""``python -m dms``: the DMS as a process, settings from ``SLUICE_DMS_…``."""

from dms.settings import DmsSettings
from dms.wiring import build
from sluice.servicekit.service import run_service

if __name__ == "__main__":
    run_service("dms", DmsSettings(), build)
