"""Slots in tests, each way to contain their tools."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.needs import ROOT_RIGHTS
from tests.unit.pilot import slot_users
from tests.unit.pilot.sandboxes import found_sandbox
from tests.unit.pilot.slot_runner import Runner

#: Settings of a slot.
WALLS: dict[str, Callable[[], dict[str, Any]]] = {
    "sandbox": lambda: {"sandbox": found_sandbox()},
    "user": lambda: {"users": [slot_users.new_user()], "no_sandbox": "a test"},
    "open": lambda: {"no_sandbox": "a test"},
}
#: The same, as parameters of tests.
WAYS = [
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


def slot_behind(isolation: str, folder: Path) -> Runner:
    """``folder``: where a slot's user can get to."""
    environment = {"PYTHONPATH": os.getcwd()} if isolation == "user" else {}
    runner = Runner(folder, settings=WALLS[isolation](), environment=environment)
    if isolation == "user":
        slot_users.let_pass(runner)
    return runner
