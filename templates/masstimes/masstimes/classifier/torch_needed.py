"""Programs that need torch say so where it is not installed."""

from __future__ import annotations

import importlib.util

from pack_command import CommandError


class TorchMissing(CommandError):
    """This machine cannot run it."""

    exit_code = 69


def need_torch() -> None:
    """Raises ``TorchMissing``."""
    if importlib.util.find_spec("torch") is None:
        raise TorchMissing("torch is not installed here: pip install 'sluice[masstimes-train]'")
