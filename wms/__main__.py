"""``python -m wms``: the WMS as a process, settings from ``SLUICE_WMS_…``."""

from sluice.servicekit.service import run_service
from wms.settings import WmsSettings
from wms.wiring import build

if __name__ == "__main__":
    run_service("wms", WmsSettings(), build)
