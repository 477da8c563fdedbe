"""Local pilots are launched as processes, against a scripted WMS."""

import asyncio
import shutil
from pathlib import Path

import psutil
import pytest

from sluice.pilot_launchers.local_process import LocalPilot, end_pilot, launch_pilot
from tests.servers.scripted_wms import ScriptedWms, wait_for

MIB = 1 << 20


async def test_launched_pilot_has_its_part_of_the_node_and_ends_when_told(
    wms: ScriptedWms, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLUICE_PILOT_LEASE_WAIT", "2")
    monkeypatch.setenv("SLUICE_PILOT_CONTAINERS", "[]")
    log = tmp_path / "pilot.log"
    pilot = LocalPilot("local-1", wms.url, 3, tmp_path / "work", log, part="2/2")
    process = await launch_pilot(pilot)
    try:
        await wait_for(lambda: bool(wms.lease_requests), seconds=60)
        (registered,) = wms.registrations
        has = registered.resources
        assert (registered.name, has.cores, has.part) == ("local-1", 3, "2/2")
        assert has.ram <= psutil.virtual_memory().total / MIB / 2
        assert has.disk <= shutil.disk_usage(tmp_path).total / MIB / 2
        assert (tmp_path / "work").is_dir()
        async with asyncio.timeout(60):
            await end_pilot(process, asyncio.Event())
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0
    assert [uid for uid, _ in wms.sign_offs] == [registered.uid]
    assert "pilot.registered" in pilot.log.read_text()
