"""Pilots of the embedded system, which are processes that are restarted when they die."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import structlog

from sluice.clients.wms import WmsClient
from sluice.contracts.common.problems import ServiceError
from sluice.contracts.pilots.pilot_list import Pilot
from sluice.embedded.exit_reason import read_exit_reason
from sluice.embedded.home import Home
from sluice.embedded.readiness import OK, STARTING
from sluice.pilot_launchers.local_process import LocalPilot, end_pilot, launch_pilot
from sluice.servicekit.running.lifecycle import cancel_and_wait

log = structlog.get_logger(__name__)

#: Minimum seconds between two starts of the same pilot.
RESTART_PAUSE = 1.0
#: Consecutive failed starts after which a pilot is no longer waited for.
REFUSALS = 2


@dataclass(slots=True)
class _Run:
    """The last start of a pilot.

    ``failure`` says why it, or the start before it, has ended. ``refusals`` counts consecutive
    starts that ended by themselves before the pilot worked. ``last_message`` is what the pilot
    then wrote last.
    """

    started: datetime
    process: asyncio.subprocess.Process
    failure: str
    refusals: int = 0
    last_message: str = ""

    def state(self, name: str, registered_pilots: Iterable[Pilot]) -> str:
        """Return the state of the pilot. The WMS knows the ``registered_pilots``."""
        alive = self.process.returncode is None
        if alive and any(
            pilot.name == name and pilot.registered_at >= self.started
            for pilot in registered_pilots
        ):
            self.refusals = 0
            return OK
        return self.failure or STARTING


class PilotProcesses:
    """Component that runs the pilots of an embedded system.

    Their tools see nothing of ``home`` and the ``storages``. They end by themselves if this process
    is killed.
    """

    def __init__(
        self,
        *,
        wms_url: str,
        count: int,
        cores: int | None,
        home: Home,
        storages: Sequence[Path],
        tell: Callable[[str], None],
        token: Path | None = None,
    ) -> None:
        """Set up the pilots.

        Args:
            wms_url: The address of the WMS.
            count: The number of pilots, which share this machine.
            cores: The cores of each pilot.
            home: The home folder.
            storages: The folders of the storages.
            tell: Called with a message when a pilot does not run for a new reason.
            token: The file with the token for registration.
        """
        names = {f"embedded-{number}": f"{number}/{count}" for number in range(1, count + 1)}
        self._pilots = [
            LocalPilot(
                name,
                wms_url,
                cores,
                home.pilots / name,
                home.logs / f"pilot-{name}.log",
                part=part if count > 1 else None,
                token=token,
                hidden_folders=(home.root, *storages),
            )
            for name, part in names.items()
        ]
        self._tell = tell
        self._tasks: list[asyncio.Task[None]] = []
        self._hurried = asyncio.Event()
        self._runs: dict[str, _Run] = {}

    @property
    def at_work(self) -> bool:
        """Return whether any pilot was started and not stopped."""
        return bool(self._runs)

    async def start(self) -> None:
        """Start the pilots."""
        self._tasks = [
            asyncio.create_task(self._keep_running(pilot), name=f"pilot {pilot.name}")
            for pilot in self._pilots
        ]

    async def stop(self) -> None:
        """Drain all pilots: wait for their jobs, unless ``hurry`` was called."""
        for task in self._tasks:
            await cancel_and_wait(task)
        self._tasks = []
        ends = (end_pilot(run.process, self._hurried) for run in self._runs.values())
        await asyncio.gather(*ends)
        self._runs.clear()

    def hurry(self) -> None:
        """Make the present or next stop hand back the jobs.

        A pilot that does not end in time is killed. Its jobs return when their leases end.
        """
        self._hurried.set()

    async def states(self, wms: WmsClient) -> dict[str, str]:
        """Return the state of each pilot: ``OK``, ``STARTING``, or why it does not run."""
        try:
            registered_pilots = (await wms.list_pilots()).pilots
        except ServiceError:
            registered_pilots = []
        return {name: run.state(name, registered_pilots) for name, run in self._runs.items()}

    @property
    def refusals(self) -> dict[str, str]:
        """Return for each pilot why it will not start, or nothing while any pilot may start.

        ``states`` updates this. A killed pilot starts again. A pilot that ends by itself twice in a
        row, before it worked, needs other settings or another node.
        """
        messages = {
            n: run.last_message for n, run in self._runs.items() if run.refusals >= REFUSALS
        }
        return messages if len(messages) == len(self._pilots) else {}

    async def _keep_running(self, pilot: LocalPilot) -> None:
        failure, refusals, message = "", 0, ""
        while True:
            begin = pilot.log.stat().st_size if pilot.log.exists() else 0
            started = datetime.now(UTC)
            process = await launch_pilot(pilot)
            self._runs[pilot.name] = run = _Run(started, process, failure, refusals, message)
            code = await process.wait()
            refusals = run.refusals = run.refusals + 1 if code > 0 else 0
            message = run.last_message = (
                "" if code == 0 else read_exit_reason(pilot.log, begin, code)
            )
            run.failure = _failure(pilot, message) if message else ""
            if run.failure != failure:
                failure = run.failure
                log.warning("pilot.ended", pilot=pilot.name, code=code)
                if failure:
                    self._tell(f"pilot {pilot.name} is {failure}")
            await asyncio.sleep(RESTART_PAUSE)


def _failure(pilot: LocalPilot, message: str) -> str:
    return (
        f"not running: {message} (tried again every {RESTART_PAUSE:g} s, with the settings that the"
        f" system was started with; its log: {pilot.log})"
    )
