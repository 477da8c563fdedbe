"""Isolation settings that a slot passes to a workflow inside a job."""

import os

from pilot.runner.inner_workflow.contained_tools import Walls
from pilot.runner.inner_workflow.sandbox import InnerSandbox, InnerSandboxWalls
from pilot.runner.inner_workflow.user import InnerUserWalls
from pilot.users.slot_user import SlotUser
from sluice.contracts.base import Contract

_WALLS = "walls.json"


class InnerWalls(Contract):
    """Isolation of the tools: ``sandbox`` or ``user``.

    Without both, tools run as the process itself.
    """

    sandbox: InnerSandbox | None = None
    user: SlotUser | None = None


def write_walls(walls: InnerWalls, folder: str) -> None:
    """Write the settings to the own folder of the process.

    Raises:
        OSError: The file could not be written.
    """
    with open(f"{folder}/{_WALLS}", "w") as file:
        file.write(walls.model_dump_json())


def read_walls(folder: str) -> Walls | None:
    """Read the settings from the own folder of the process. None means no isolation."""
    with open(f"{folder}/{_WALLS}") as file:
        told = InnerWalls.model_validate_json(file.read())
    if told.sandbox is not None:
        return InnerSandboxWalls(told.sandbox, os.path.dirname(folder))
    return None if told.user is None else InnerUserWalls(told.user, folder)
