"""Pilots of the embedded system: processes of their own, started again when they die."""

import asyncio
import os
import sys
from pathlib import Path

import structlog

from sluice.servicekit.lifecycle import cancel_and_wait

log = structlog.get_logger(__name__)

#: Seconds a pilot gets to finish what it has before it is killed at the end.
DRAIN = 10.0
#: Seconds of these for its last reports.
FLUSH = 3.0
#: Shortest time between two starts of the same pilot.
RESTART_PAUSE = 1.0


class PilotProcesses:
    """Component: ``count`` pilots with ``slots`` each, talking to the WMS at ``wms_url``."""

    def __init__(self, *, wms_url: str, count: int, slots: int, work: Path, logs: Path) -> None:
        self._wms_url = wms_url
        self._count = count
        self._slots = slots
        self._work = work
        self._logs = logs
        self._tasks: list[asyncio.Task[None]] = []
        self.processes: dict[str, asyncio.subprocess.Process] = {}

    async def start(self) -> None:
        names = [f"embedded-{number}" for number in range(1, self._count + 1)]
        self._tasks = [asyncio.create_task(self._keep_running(name), name=f"pilot {name}") for name in names]

    async def stop(self) -> None:
        """Drains all pilots at once; what does not end in time is killed (its jobs return when their leases end)."""
        for task in self._tasks:
            await cancel_and_wait(task)
        self._tasks = []
        await asyncio.gather(*(self._end(process) for process in self.processes.values()))
        self.processes.clear()

    async def _keep_running(self, name: str) -> None:
        while True:
            self.processes[name] = process = await self._launch(name)
            code = await process.wait()
            log.warning("pilot.ended", pilot=name, code=code)
            await asyncio.sleep(RESTART_PAUSE)

    async def _launch(self, name: str) -> asyncio.subprocess.Process:
        environment = os.environ | {
            "SLUICE_PILOT_WMS_URL": self._wms_url,
            "SLUICE_PILOT_NAME": name,
            "SLUICE_PILOT_SLOTS": str(self._slots),
            "SLUICE_PILOT_WORK_DIR": str(self._work / name),
            "SLUICE_PILOT_END_WITH_PARENT": "true",
            "SLUICE_PILOT_DRAIN_TIMEOUT": str(DRAIN - FLUSH - 1),
            "SLUICE_PILOT_FLUSH_TIMEOUT": str(FLUSH),
        }
        with (self._logs / f"pilot-{name}.log").open("ab") as output:
            return await asyncio.create_subprocess_exec(
                sys.executable, "-m", "pilot", env=environment, stdin=asyncio.subprocess.DEVNULL, stdout=output, stderr=output
            )

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        if process.returncode is not None:
            return
        process.terminate()
        try:
            async with asyncio.timeout(DRAIN):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
