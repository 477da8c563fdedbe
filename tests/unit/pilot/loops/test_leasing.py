"""Tests of when a pilot requests jobs."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from uuid import uuid4

import httpx
import pytest

from pilot.domain.core import PilotCore
from pilot.domain.model import PilotStarted, SlotReady
from pilot.folders.run_folder import RunFolder
from pilot.loops.leasing import request_jobs
from pilot.reports.outbox import Outbox
from pilot.runtime import PilotRuntime
from pilot.slot_processes import SlotProcesses
from pilot.wms_session import WmsSession
from sluice.clients.wms import WmsClient
from sluice.contracts.pilots.nodes import NodeResources
from sluice.contracts.pilots.registration import RegisterPilot
from tests.servers.scripted_wms import ScriptedWms, wait_for
from tests.unit.pilot.builders import answer_without_secrets, make_file_remover


@pytest.fixture
async def wms() -> AsyncIterator[ScriptedWms]:
    wms = ScriptedWms()
    await wms.start()
    yield wms
    await wms.stop()


async def test_no_jobs_are_requested_while_the_disk_is_full(
    wms: ScriptedWms, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each job would fail at once and use up its attempts."""
    run = RunFolder(tmp_path)
    run.make()
    agent = PilotRuntime(
        PilotCore(1),
        SlotProcesses.__new__(SlotProcesses),
        Outbox(run.journals, make_file_remover()),
        run,
        request_secrets=answer_without_secrets,
    )
    agent.tell(PilotStarted())
    agent.tell(SlotReady(0))
    measured_paths: list[Path] = []
    free = 0

    def usage(path: Path) -> SimpleNamespace:
        measured_paths.append(path)
        return SimpleNamespace(free=free)

    monkeypatch.setattr(shutil, "disk_usage", usage)
    resources = NodeResources(cores=1, ram=1024, disk=1024)
    pilot = RegisterPilot(
        uid=uuid4(), name="node-1", host="node", slots=1, resources=resources, version="1"
    )
    async with httpx.AsyncClient(base_url=wms.url) as http:
        session = WmsSession(WmsClient(http), pilot)
        await session.register()
        leasing = asyncio.create_task(request_jobs(agent, session, wait=0.1))
        await wait_for(lambda: len(measured_paths) >= 3)
        assert wms.lease_requests == []
        monkeypatch.setattr(SlotProcesses, "progress", lambda _: {})
        assert agent.heartbeat().trouble.startswith("its disk is full")
        free = 1 << 30
        await wait_for(lambda: bool(wms.lease_requests))
        leasing.cancel()
        await asyncio.gather(leasing, return_exceptions=True)
    assert set(measured_paths) == {tmp_path}
