"""Pilots of the embedded system: processes of their own, started again when they die."""

import asyncio
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import structlog

from sluice.embedded.remains import WORK_DIR
from sluice.servicekit.lifecycle import cancel_and_wait

log = structlog.get_logger(__name__)

#: Seconds that a pilot gets to hand back what it has, once it is told to, and of these for its last
#: reports.
HAND_BACK, FLUSH = 15.0, 10.0
#: Shortest time between two starts of the same pilot.
RESTART_PAUSE = 1.0


class PilotProcesses:
    """Component: ``count`` pilots with ``slots`` each, talking to the WMS at ``wms_url``. They end
    by themselves where this process is killed."""

    def __init__(self, *, wms_url: str, count: int, slots: int, work: Path, logs: Path) -> None:
        self._wms_url = wms_url
        self._count = count
        self._slots = slots
        self._work = work
        self._logs = logs
        self._tasks: list[asyncio.Task[None]] = []
        self._hurried = asyncio.Event()
        self.processes: dict[str, asyncio.subprocess.Process] = {}

    async def start(self) -> None:
        names = [f"embedded-{number}" for number in range(1, self._count + 1)]
        self._tasks = [
            asyncio.create_task(self._keep_running(name), name=f"pilot {name}") for name in names
        ]

    async def stop(self) -> None:
        """Drains all pilots together: the jobs that they run are waited for, unless ``hurry`` says
        otherwise."""
        for task in self._tasks:
            await cancel_and_wait(task)
        self._tasks = []
        await asyncio.gather(*(self._end(process) for process in self.processes.values()))
        self.processes.clear()

    def hurry(self) -> None:
        """A stop, this one or the next, has the pilots hand back what they run. What does not end
        in time then is killed; its jobs return when their leases end."""
        self._hurried.set()

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
            WORK_DIR: str(self._work / name),
            "SLUICE_PILOT_END_WITH": str(os.getpid()),
            "SLUICE_PILOT_FLUSH_TIMEOUT": str(FLUSH),
        }
        with (self._logs / f"pilot-{name}.log").open("ab") as output:
            return await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "pilot",
                env=environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # Ctrl-C is for this process, which tells its pilots
            )

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        ended = asyncio.create_task(process.wait())
        hurried = asyncio.create_task(self._hurried.wait())
        _send(process, signal.SIGTERM)
        await asyncio.wait([ended, hurried], return_when=asyncio.FIRST_COMPLETED)
        hurried.cancel()
        if not ended.done():
            _send(process, signal.SIGINT)  # another one: two of a kind could become one on the way
            await asyncio.wait([ended], timeout=HAND_BACK)
        if not ended.done():
            _send(process, signal.SIGKILL)
        await ended


def _send(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        process.send_signal(number)
