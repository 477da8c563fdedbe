"""Isolation settings that a slot passes to a workflow inside a job."""

import os

from pilot.isolation.users.slot_user import SlotUser
from pilot.runner.inner_workflow.isolated_tools import ToolIsolation
from pilot.runner.inner_workflow.sandbox import InnerSandbox, SandboxToolIsolation
from pilot.runner.inner_workflow.user import UserToolIsolation
from sluice.contracts.common.base import Contract

_ISOLATION_FILE = "walls.json"


class InnerIsolation(Contract):
    """Isolation of the tools.

    Without a sandbox and a user, tools run as the process itself.
    """

    sandbox: InnerSandbox | None = None
    user: SlotUser | None = None


def write_isolation(isolation: InnerIsolation, folder: str) -> None:
    """Write the settings to the own folder of the process.

    Raises:
        OSError: The file could not be written.
    """
    with open(f"{folder}/{_ISOLATION_FILE}", "w") as file:
        file.write(isolation.model_dump_json())


def read_isolation(folder: str) -> ToolIsolation | None:
    """Read the settings from the own folder of the process. None means no isolation."""
    with open(f"{folder}/{_ISOLATION_FILE}") as file:
        isolation = InnerIsolation.model_validate_json(file.read())
    if isolation.sandbox is not None:
        return SandboxToolIsolation(isolation.sandbox, os.path.dirname(folder))
    return None if isolation.user is None else UserToolIsolation(isolation.user, folder)
