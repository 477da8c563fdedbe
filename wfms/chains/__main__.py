"""The chain service as a process: ``python -m wfms.chains`` and ``sluice serve chains``.

Its settings come from ``SLUICE_CHAINS_…``.
"""

from typing import TYPE_CHECKING

from sluice.servicekit.running.process import Parts, run_service

if TYPE_CHECKING:
    from wfms.chains.settings import ChainsSettings


def main() -> None:
    """Run the chain service until it is stopped."""
    run_service("wfms.chains", _load)


def _load() -> "Parts[ChainsSettings]":
    from wfms.chains.settings import ChainsSettings  # noqa: PLC0415 - see run_service
    from wfms.chains.wiring import build  # noqa: PLC0415 - see run_service

    return ChainsSettings, build


if __name__ == "__main__":
    main()
