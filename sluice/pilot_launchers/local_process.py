"""A pilot on this machine: its command, its environment, its start and its end."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from sluice.process.signals import send_signal

#: Variable with the number of cores for a pilot's jobs.
CORES = "SLUICE_PILOT_CORES"
#: Variable with the part of the machine that a pilot has.
PART = "SLUICE_PILOT_PART"
#: Variable with the path of the token for a pilot's registration.
TOKEN_FILE = "SLUICE_PILOT_TOKEN_FILE"  # noqa: S105 - the variable's name
#: Variable with a pilot's folder, which also identifies the pilot's process.
WORK_DIR = "SLUICE_PILOT_WORK_DIR"
#: Variable with files and folders that the pilot's tools do not see.
HIDDEN = "SLUICE_PILOT_SANDBOX_HIDDEN"
#: Seconds for a pilot to hand back its jobs, and the part of them for its last reports.
HAND_BACK, FLUSH = 15.0, 10.0

#: Started by name, like all services: nothing in `sluice` imports one.
_COMMAND = (sys.executable, "-m", "pilot")


@dataclass(frozen=True, slots=True)
class LocalPilot:
    """A pilot on this machine.

    Attributes:
        name: Its name.
        wms_url: The address of the WMS.
        cores: The cores for its jobs. None means that its settings apply.
        work_dir: Its folder.
        log: The file that its output is appended to.
        part: Its part of this machine, as in ``1/2``.
        token: The file with the token for its registration.
        hidden_folders: Folders that its tools do not see, besides those that its settings name.
    """

    name: str
    wms_url: str
    cores: int | None
    work_dir: Path
    log: Path
    part: str | None = None
    token: Path | None = None
    hidden_folders: Sequence[Path] = ()

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment of the pilot, based on this process's environment."""
        options = {
            CORES: self.cores,
            PART: self.part,
            TOKEN_FILE: self.token,
            HIDDEN: self._hidden(),
        }
        variables = {name: str(value) for name, value in options.items() if value is not None}
        return (os.environ | variables) | {
            "SLUICE_PILOT_WMS_URL": self.wms_url,
            "SLUICE_PILOT_NAME": self.name,
            WORK_DIR: str(self.work_dir),
            "SLUICE_PILOT_END_WITH": str(os.getpid()),
            "SLUICE_PILOT_FLUSH_TIMEOUT": str(FLUSH),
        }

    def _hidden(self) -> str | None:
        """Return the hidden folders of its settings and of ``hidden_folders``.

        None means that the settings alone count. They may be wrong, which the pilot then reports.
        """
        try:
            folders = json.loads(os.environ.get(HIDDEN, "[]"))
        except ValueError:
            return None
        if not self.hidden_folders or not isinstance(folders, list):
            return None
        return json.dumps([*folders, *map(str, self.hidden_folders)])


async def launch_pilot(
    pilot: LocalPilot, settings: Mapping[str, str] = MappingProxyType({})
) -> asyncio.subprocess.Process:
    """Launch a pilot, which ends if this process is killed.

    Args:
        pilot: The pilot.
        settings: Further variables of its environment.

    Raises:
        OSError: It cannot be started.
    """
    with pilot.log.open("ab") as output:
        return await asyncio.create_subprocess_exec(
            *_COMMAND,
            env={**pilot.environment, **settings},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,  # Ctrl-C goes to this process, which tells its pilots
        )


async def end_pilot(process: asyncio.subprocess.Process, hurried: asyncio.Event) -> None:
    """Wait for the pilot's jobs until ``hurried`` is set, then make it hand them back.

    A pilot that does not end in time is killed. Its jobs return when their leases end.
    """
    ended = asyncio.create_task(process.wait())
    hurry = asyncio.create_task(hurried.wait())
    send_signal(process, signal.SIGTERM)
    await asyncio.wait([ended, hurry], return_when=asyncio.FIRST_COMPLETED)
    hurry.cancel()
    if not ended.done():
        # another signal, because two equal ones could arrive as one
        send_signal(process, signal.SIGINT)
        await asyncio.wait([ended], timeout=HAND_BACK)
    if not ended.done():
        send_signal(process, signal.SIGKILL)
    await ended
