"""A scripted WMS, and pilots that work for it."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from tests.e2e.systems import NO_CONTAINERS
from tests.integration.pilot.pilot_process import PilotProcess, StartPilot
from tests.servers.scripted_wms import ScriptedWms, wait_for


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
