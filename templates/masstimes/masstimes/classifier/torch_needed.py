"""An error message for machines without torch."""

import importlib.util

from sluice.packs.programs import CommandError


class TorchMissing(CommandError):
    """torch is not installed."""

    exit_code = 69


def require_torch() -> None:
    """Check that torch is installed, without importing it.

    Raises:
        TorchMissing: torch is not installed.
    """
    if importlib.util.find_spec("torch") is None:
        raise TorchMissing(
            "torch is not installed: install the extra `train` of the pack sluice-masstimes"
        )
