"""A pilot on this machine: its command line and environment, its start and its end."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

#: Variable that says how many cores a pilot's jobs may take.
CORES = "SLUICE_PILOT_CORES"
#: Variable that says which part of the machine is a pilot's.
PART = "SLUICE_PILOT_PART"
#: Variable that says where the token lies that a pilot registers with.
TOKEN_FILE = "SLUICE_PILOT_TOKEN_FILE"  # noqa: S105 - the variable's name
#: Variable that a pilot is told its folder with, by which it is known again.
WORK_DIR = "SLUICE_PILOT_WORK_DIR"
#: Variable with files and folders that its tools do not see.
HIDDEN = "SLUICE_PILOT_SANDBOX_HIDDEN"
#: Seconds that a pilot gets to hand back what it has, once it is told to, and of these for its last
#: reports.
HAND_BACK, FLUSH = 15.0, 10.0

#: Started by name, as all services are: nothing in `sluice` imports one.
_COMMAND = (sys.executable, "-m", "pilot")


@dataclass(frozen=True, slots=True)
class LocalPilot:
    """``cores``: that its jobs may take; None: as its settings say otherwise. ``work_dir``: its own
    folder. ``log``: file that its output is appended to. ``part``: of this machine, as in ``1/2``.
    ``token``: file with what it registers with. ``hidden``: folders of which its tools see nothing,
    besides those that its settings name.
    """

    name: str
    wms_url: str
    cores: int | None
    work_dir: Path
    log: Path
    part: str | None = None
    token: Path | None = None
    hidden: Sequence[Path] = ()

    @property
    def environment(self) -> dict[str, str]:
        """What its settings do not get from here they get from this process's environment."""
        told = {
            CORES: self.cores,
            PART: self.part,
            TOKEN_FILE: self.token,
            HIDDEN: self._hidden(),
        }
        given = {name: str(value) for name, value in told.items() if value is not None}
        return (os.environ | given) | {
            "SLUICE_PILOT_WMS_URL": self.wms_url,
            "SLUICE_PILOT_NAME": self.name,
            WORK_DIR: str(self.work_dir),
            "SLUICE_PILOT_END_WITH": str(os.getpid()),
            "SLUICE_PILOT_FLUSH_TIMEOUT": str(FLUSH),
        }

    def _hidden(self) -> str | None:
        """Return what is hidden by its settings and by ``hidden``; None: by its settings alone,
        also where these are wrong, which the pilot says.
        """
        try:
            told = json.loads(os.environ.get(HIDDEN, "[]"))
        except ValueError:
            return None
        if not self.hidden or not isinstance(told, list):
            return None
        return json.dumps([*told, *map(str, self.hidden)])


async def launch_pilot(
    pilot: LocalPilot, settings: Mapping[str, str] = MappingProxyType({})
) -> asyncio.subprocess.Process:
    """It ends by itself where this process is killed. ``settings``: further variables. Raises
    ``OSError``.
    """
    with pilot.log.open("ab") as output:
        return await asyncio.create_subprocess_exec(
            *_COMMAND,
            env={**pilot.environment, **settings},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,  # Ctrl-C is for this process, which tells its pilots
        )


async def end_pilot(process: asyncio.subprocess.Process, hurried: asyncio.Event) -> None:
    """Waits for the jobs that it runs until ``hurried``, then has it hand them back. What does not
    end in time then is killed; its jobs return when their leases end.
    """
    ended = asyncio.create_task(process.wait())
    hurry = asyncio.create_task(hurried.wait())
    _send(process, signal.SIGTERM)
    await asyncio.wait([ended, hurry], return_when=asyncio.FIRST_COMPLETED)
    hurry.cancel()
    if not ended.done():
        _send(process, signal.SIGINT)  # another one: two of a kind could become one on the way
        await asyncio.wait([ended], timeout=HAND_BACK)
    if not ended.done():
        _send(process, signal.SIGKILL)
    await ended


def _send(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        process.send_signal(number)
