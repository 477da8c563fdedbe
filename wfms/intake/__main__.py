"""The intake as a process: ``python -m wfms.intake`` and ``sluice serve intake``.

Its settings come from ``SLUICE_INTAKE_…``.
"""

from typing import TYPE_CHECKING

from sluice.servicekit.running.process import Parts, run_service

if TYPE_CHECKING:
    from wfms.intake.settings import IntakeSettings


def main() -> None:
    """Run the intake until it is stopped."""
    run_service("wfms.intake", _load)


def _load() -> "Parts[IntakeSettings]":
    from wfms.intake.settings import IntakeSettings  # noqa: PLC0415 - see run_service
    from wfms.intake.wiring import build  # noqa: PLC0415 - see run_service

    return IntakeSettings, build


if __name__ == "__main__":
    main()
