"""``python -m wfms.operator``: the operator service as a process, settings from ``SLUICE_OPERATOR_…``."""

from sluice.servicekit.service import run_service
from wfms.operator.settings import OperatorSettings
from wfms.operator.wiring import NAME, build

if __name__ == "__main__":
    run_service(NAME, OperatorSettings(), build)
