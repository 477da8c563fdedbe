"""``python -m wfms.operator``, ``sluice serve operator``: the service as a process, settings from
``SLUICE_OPERATOR_…``.
"""

from typing import TYPE_CHECKING

from sluice.servicekit.process import Parts, run_service

if TYPE_CHECKING:
    from wfms.operator.settings import OperatorSettings


def main() -> None:
    run_service("wfms.operator", _load)


def _load() -> "Parts[OperatorSettings]":
    from wfms.operator.settings import OperatorSettings  # noqa: PLC0415 - see run_service
    from wfms.operator.wiring import build  # noqa: PLC0415 - see run_service

    return OperatorSettings, build


if __name__ == "__main__":
    main()
