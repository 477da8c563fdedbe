"""Run ``sluice-pilot`` as a process against a scripted WMS."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psutil

from sluice.contracts.pilots.leases import LeasedJob, PilotTask
from tests.unit.pilot.builders import make_job, make_tool, write_input
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


def make_jobs(root: Path, task_: PilotTask, count: int) -> list[LeasedJob]:
    return [
        make_job(
            task_, [write_input(root / "in" / f"{n}.dat", data=f"{n}".encode())], job_id=n, seq=n
        )
        for n in range(1, count + 1)
    ]


def make_waiting_tool(mark: Path, go: Gate, **fields: Any) -> dict[str, Any]:
    """A tool that writes its pid to ``mark``, ignores SIGTERM and waits at the gate ``go``."""
    code = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "with open(sys.argv[1] + '.part', 'w') as file: file.write(str(os.getpid()))\n"
        "os.rename(sys.argv[1] + '.part', sys.argv[1])\n"
        "open(sys.argv[2]).close()\n"
    )
    return make_tool([sys.executable, "-c"], arguments=[code, str(mark), str(go)], **fields)


def list_files_below(folder: Path) -> list[str]:
    return (
        sorted(path.name for path in folder.rglob("*") if path.is_file()) if folder.exists() else []
    )


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
