"""The WMS as a process (``python -m wms``, ``sluice serve wms``) with settings ``SLUICE_WMS_…``."""

from typing import TYPE_CHECKING

from sluice.servicekit.running.process import Parts, run_service

if TYPE_CHECKING:
    from wms.settings import WmsSettings


def main() -> None:
    """Run the WMS."""
    run_service("wms", _load)


def _load() -> "Parts[WmsSettings]":
    from wms.settings import WmsSettings  # noqa: PLC0415 - see run_service
    from wms.wiring import build  # noqa: PLC0415 - see run_service

    return WmsSettings, build


if __name__ == "__main__":
    main()
