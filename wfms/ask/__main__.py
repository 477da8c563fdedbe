"""The service for human tasks as a process: ``python -m wfms.ask`` or ``sluice serve ask``.

Its settings come from ``SLUICE_ASK_…``.
"""

from typing import TYPE_CHECKING

from sluice.servicekit.running.process import Parts, run_service

if TYPE_CHECKING:
    from wfms.ask.settings import AskSettings


def main() -> None:
    """Run the service."""
    run_service("wfms.ask", _load)


def _load() -> "Parts[AskSettings]":
    from wfms.ask.settings import AskSettings  # noqa: PLC0415 - see run_service
    from wfms.ask.wiring import build  # noqa: PLC0415 - see run_service

    return AskSettings, build


if __name__ == "__main__":
    main()
