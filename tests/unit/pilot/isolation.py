"""Start slots with each kind of isolation for their tools."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.needs import ROOT_RIGHTS
from tests.unit.pilot import slot_users
from tests.unit.pilot.sandboxes import get_sandbox
from tests.unit.pilot.slot_runner import Runner

#: Settings of a slot for each kind of isolation.
ISOLATION_SETTINGS: dict[str, Callable[[], dict[str, Any]]] = {
    "sandbox": lambda: {"sandbox": get_sandbox()},
    "user": lambda: {"users": [slot_users.make_user()], "no_sandbox": "a test"},
    "open": lambda: {"no_sandbox": "a test"},
}
#: The kinds of isolation as parameters of tests.
ISOLATION_PARAMETERS = [
    "sandbox",
    pytest.param(
        "user",
        marks=[
            pytest.mark.long("pilot/users, attacks show what is special"),
            pytest.mark.needs(ROOT_RIGHTS),
        ],
    ),
    "open",
]


def start_isolated_slot(isolation: str, folder: Path) -> Runner:
    """Start a slot with this isolation. The user of the slot must be able to enter ``folder``."""
    environment = {"PYTHONPATH": os.getcwd()} if isolation == "user" else {}
    runner = Runner(folder, settings=ISOLATION_SETTINGS[isolation](), environment=environment)
    if isolation == "user":
        slot_users.open_run_folder(runner)
    return runner
