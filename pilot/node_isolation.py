"""Isolation of tools on this node: the sandbox, container engines, or a user for each slot."""

import socket
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import structlog

from pilot.folders.pilot_folder import PilotFolder
from pilot.folders.run_folder import RunFolder
from pilot.isolation.node.sandboxes import find_sandbox, with_network
from pilot.isolation.node.slot_users import claim, find_slot_users, why_unsuitable
from pilot.isolation.sandbox.sandbox import Sandbox
from pilot.isolation.users.slot_user import SlotUser
from pilot.node.engines import Engine, find_engines
from pilot.settings import PilotSettings
from sluice.contracts.common.states import SandboxKind

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class NodeIsolation:
    """Isolation of tools on this node.

    Attributes:
        sandbox: The sandbox, or a sentence that says why there is none.
        users: The users of tools, one for each slot, if there is no sandbox.
        claims: Sockets that keep other pilots from using the users.
    """

    engines: list[Engine]
    sandbox: Sandbox | str
    users: Sequence[SlotUser] = ()
    claims: Sequence[socket.socket] = ()

    @property
    def kind(self) -> SandboxKind:
        """Return the kind of the isolation."""
        if isinstance(self.sandbox, Sandbox):
            return SandboxKind.NAMESPACES
        return SandboxKind.USERS if self.users else SandboxKind.NONE


def find_node_isolation(settings: PilotSettings, run: RunFolder, slots: int) -> NodeIsolation:
    """Return the container engines and the sandbox of this node.

    Raises:
        NoSandboxError: A required sandbox is not available.
        OSError: The folder could not be created.
    """
    sandbox = find_configured_sandbox(settings, run.system, network=True)
    if isinstance(sandbox, Sandbox):
        sandbox = sandbox.model_copy(update={"slots": slots})
    return NodeIsolation(find_engines(settings.containers), sandbox)


def find_configured_sandbox(
    settings: PilotSettings, folder: Path, *, network: bool
) -> Sandbox | str:
    """Return the sandbox that the settings ask for, or a sentence that says why there is none.

    ``folder`` is created for files that all tools see. ``network`` says whether tools may ask for a
    network.

    Raises:
        NoSandboxError: A required sandbox is not available.
        OSError: The folder could not be created.
    """
    sandbox = find_sandbox(
        settings.sandbox, folder, settings.sandbox_paths, hidden_paths=settings.hidden
    )
    if isinstance(sandbox, str):
        return sandbox
    if network:
        sandbox = with_network(sandbox, settings.sandbox, settings.sandbox_networks)
    return sandbox.model_copy(update=_build_limits(settings))


def _build_limits(settings: PilotSettings) -> dict[str, int]:
    """Return the limits of a sandbox or a slot's user."""
    return {"processes": settings.sandbox_processes, "open_files": settings.sandbox_open_files}


def with_users(
    isolation: NodeIsolation,
    settings: PilotSettings,
    min_users: int,
    *,
    folder: PilotFolder,
    run: RunFolder,
) -> NodeIsolation:
    """Add users for the tools if there is no sandbox and the users work.

    Their number is that of the slots in the settings, or else that of the named users. There must
    be at least ``min_users``.

    Raises:
        UnsuitableUsersError: The named users are not suitable.
        OSError: A folder could not be changed.
    """
    users = find_slot_users(settings.slot_users, min_users) if settings.slot_users else []
    users = [user.model_copy(update=_build_limits(settings)) for user in users[: settings.slots]]
    if isinstance(isolation.sandbox, Sandbox):
        return isolation
    why = isolation.sandbox
    if users and settings.sandbox == "preferred":
        claims = claim(users)
        folder.let_users_pass(run)
        failure = why_unsuitable(users, run.slots, run.journals)
        if failure is None:
            log.warning("sandbox.users", reason=why, note="each slot has only a separate user")
            return replace(isolation, users=users, claims=claims)
        folder.keep_users_out()
        why = f"{why}; {failure}"
    note = "tools run with the rights of the pilot's user, and reach what it reaches"
    log.warning("sandbox.none", reason=why, note=note)
    return replace(isolation, sandbox=why)
