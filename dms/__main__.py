"""``python -m dms``, ``sluice serve dms``: the DMS as a process, settings from ``SLUICE_DMS_…``."""

from typing import TYPE_CHECKING

from sluice.servicekit.running.process import Parts, run_service

if TYPE_CHECKING:
    from dms.settings import DmsSettings


def main() -> None:
    """Run the DMS."""
    run_service("dms", _load)


def _load() -> "Parts[DmsSettings]":
    from dms.settings import DmsSettings  # noqa: PLC0415 - see run_service
    from dms.wiring import build  # noqa: PLC0415 - see run_service

    return DmsSettings, build


if __name__ == "__main__":
    main()
