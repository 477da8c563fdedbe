"""Run ``sluice-pilot`` as a process against a scripted WMS."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from sluice.contracts.pilots.pilots import LeasedJob, PilotTask
from tests.e2e.systems import NO_CONTAINERS
from tests.servers.scripted_wms import ScriptedWms, wait_for
from tests.unit.pilot.builders import input_file, job, tool
from tests.waiting import Gate

StartPilot = Callable[..., Awaitable["PilotProcess"]]


class PilotProcess:
    def __init__(self, process: asyncio.subprocess.Process, log: Path) -> None:
        self.process = process
        self._log = log

    def has_said(self, event: str) -> bool:
        return f'"event": "{event}"' in self._log.read_text()

    def family(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    async def ended(self) -> int:
        async with asyncio.timeout(30):
            return await self.process.wait()


@pytest.fixture
async def wms() -> AsyncIterator[ScriptedWms]:
    wms = ScriptedWms()
    await wms.start()
    yield wms
    await wms.stop()


@pytest.fixture
async def start_pilot(wms: ScriptedWms, tmp_path: Path) -> AsyncIterator[StartPilot]:
    """Start ``sluice-pilot`` with one slot, and kill the pilots that still live at the end.

    ``before`` is a command that executes the pilot.
    """
    started: list[PilotProcess] = []

    async def start(
        *options: str, wait: bool = True, before: Sequence[str] = (), **settings: str
    ) -> PilotProcess:
        arguments = [
            "--wms-url",
            wms.url,
            "--name",
            "node-1",
            "--slots",
            "1",
            "--work-dir",
            str(tmp_path / "work"),
            *options,
        ]
        quick = {"SLUICE_PILOT_GRACE": "0.5", "SLUICE_PILOT_LEASE_WAIT": "2", **NO_CONTAINERS}
        # The tools of the tests report their progress by files outside the sandbox.
        quick["SLUICE_PILOT_SANDBOX"] = "off"
        environment = {**os.environ, **quick, **settings}
        log = tmp_path / f"pilot-{len(started)}.log"
        with log.open("wb") as output:
            command = [*before, sys.executable, "-m", "pilot", *arguments]
            process = await asyncio.create_subprocess_exec(*command, env=environment, stderr=output)
        started.append(PilotProcess(process, log))
        request_count = len(wms.lease_requests)
        if wait:
            await wait_for(lambda: len(wms.lease_requests) > request_count, seconds=60)
        return started[-1]

    yield start
    for pilot in started:
        if pilot.process.returncode is None:
            pilot.process.kill()
            await pilot.process.wait()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "store"


def jobs_of(root: Path, task_: PilotTask, count: int) -> list[LeasedJob]:
    return [
        job(task_, [input_file(root / "in" / f"{n}.dat", data=f"{n}".encode())], job_id=n, seq=n)
        for n in range(1, count + 1)
    ]


def waiting_tool(mark: Path, go: Gate, **fields: Any) -> dict[str, Any]:
    """A tool that writes its pid to ``mark``, ignores SIGTERM and waits at the gate ``go``."""
    code = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "with open(sys.argv[1] + '.part', 'w') as file: file.write(str(os.getpid()))\n"
        "os.rename(sys.argv[1] + '.part', sys.argv[1])\n"
        "open(sys.argv[2]).close()\n"
    )
    return tool([sys.executable, "-c"], arguments=[code, str(mark), str(go)], **fields)


def files_below(folder: Path) -> list[str]:
    return (
        sorted(path.name for path in folder.rglob("*") if path.is_file()) if folder.exists() else []
    )


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
