"""What a slot tells the process of a workflow inside a job about keeping its tools in."""

import os

from pilot.runner.inner_workflow.contained_tools import Walls
from pilot.runner.inner_workflow.sandbox import InnerSandbox, InnerSandboxWalls
from pilot.runner.inner_workflow.user import InnerUserWalls
from pilot.users.slot_user import SlotUser
from sluice.contracts.base import Contract

_WALLS = "walls.json"


class InnerWalls(Contract):
    """``sandbox``, or ``user``; neither: tools run as the process itself."""

    sandbox: InnerSandbox | None = None
    user: SlotUser | None = None


def write_walls(walls: InnerWalls, folder: str) -> None:
    """For the process whose own folder this is. Raises ``OSError``."""
    with open(f"{folder}/{_WALLS}", "w") as file:
        file.write(walls.model_dump_json())


def read_walls(folder: str) -> Walls | None:
    """Of the process's own folder, which is in the job's. None: there are none."""
    with open(f"{folder}/{_WALLS}") as file:
        told = InnerWalls.model_validate_json(file.read())
    if told.sandbox is not None:
        return InnerSandboxWalls(told.sandbox, os.path.dirname(folder))
    return None if told.user is None else InnerUserWalls(told.user, folder)
