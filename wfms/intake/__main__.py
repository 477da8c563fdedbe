"""``python -m wfms.intake``: the intake as a process, settings from ``SLUICE_INTAKE_…``."""

from sluice.servicekit.service import run_service
from wfms.intake.settings import IntakeSettings
from wfms.intake.wiring import NAME, build

if __name__ == "__main__":
    run_service(NAME, IntakeSettings(), build)
