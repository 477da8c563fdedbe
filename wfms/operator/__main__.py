"""The operator service as a process: ``python -m wfms.operator`` or ``sluice serve operator``.

Its settings come from ``SLUICE_OPERATOR_…``.
"""

from typing import TYPE_CHECKING

from sluice.servicekit.running.process import Parts, run_service

if TYPE_CHECKING:
    from wfms.operator.settings import OperatorSettings


def main() -> None:
    """Run the service."""
    run_service("wfms.operator", _load)


def _load() -> "Parts[OperatorSettings]":
    from wfms.operator.settings import OperatorSettings  # noqa: PLC0415 - see run_service
    from wfms.operator.wiring import build  # noqa: PLC0415 - see run_service

    return OperatorSettings, build


if __name__ == "__main__":
    main()
