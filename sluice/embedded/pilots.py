"""Pilots of the embedded system: processes of their own, started again when they die."""

import asyncio
from pathlib import Path

import structlog

from sluice.pilot_launchers.local_process import LocalPilot, end_pilot, launch_pilot
from sluice.servicekit.lifecycle import cancel_and_wait

log = structlog.get_logger(__name__)

#: Shortest time between two starts of the same pilot.
RESTART_PAUSE = 1.0


class PilotProcesses:
    """Component: ``count`` pilots with ``slots`` each, talking to the WMS at ``wms_url``. They end
    by themselves where this process is killed."""

    def __init__(self, *, wms_url: str, count: int, slots: int, work: Path, logs: Path) -> None:
        names = [f"embedded-{number}" for number in range(1, count + 1)]
        self._pilots = [
            LocalPilot(name, wms_url, slots, work / name, logs / f"pilot-{name}.log")
            for name in names
        ]
        self._tasks: list[asyncio.Task[None]] = []
        self._hurried = asyncio.Event()
        self.processes: dict[str, asyncio.subprocess.Process] = {}

    async def start(self) -> None:
        self._tasks = [
            asyncio.create_task(self._keep_running(pilot), name=f"pilot {pilot.name}")
            for pilot in self._pilots
        ]

    async def stop(self) -> None:
        """Drains all pilots together: the jobs that they run are waited for, unless ``hurry`` says
        otherwise."""
        for task in self._tasks:
            await cancel_and_wait(task)
        self._tasks = []
        ends = (end_pilot(process, self._hurried) for process in self.processes.values())
        await asyncio.gather(*ends)
        self.processes.clear()

    def hurry(self) -> None:
        """A stop, this one or the next, has the pilots hand back what they run. What does not end
        in time then is killed; its jobs return when their leases end."""
        self._hurried.set()

    async def _keep_running(self, pilot: LocalPilot) -> None:
        while True:
            self.processes[pilot.name] = process = await launch_pilot(pilot)
            code = await process.wait()
            log.warning("pilot.ended", pilot=pilot.name, code=code)
            await asyncio.sleep(RESTART_PAUSE)
