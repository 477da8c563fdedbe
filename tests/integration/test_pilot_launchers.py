"""Pilots that are launched as processes of this machine, against a scripted WMS."""

import asyncio
from pathlib import Path

import pytest

from sluice.pilot_launchers.local_process import LocalPilot, end_pilot, launch_pilot
from tests.integration.pilot_process import wms
from tests.servers.scripted_wms import ScriptedWms, until

__all__ = ["wms"]


async def test_a_launched_pilot_is_what_was_said_and_ends_when_told(
    wms: ScriptedWms, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLUICE_PILOT_LEASE_WAIT", "2")
    monkeypatch.setenv("SLUICE_PILOT_CONTAINERS", "[]")
    pilot = LocalPilot("local-1", wms.url, 3, tmp_path / "work", tmp_path / "pilot.log")
    process = await launch_pilot(pilot)
    try:
        await until(lambda: bool(wms.lease_requests), seconds=60)
        (registered,) = wms.registered
        assert (registered.name, registered.resources.cores) == ("local-1", 3)
        assert (tmp_path / "work").is_dir()
        async with asyncio.timeout(60):
            await end_pilot(process, asyncio.Event())
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0
    assert [uid for uid, _ in wms.signed_off] == [registered.uid]
    assert "pilot.registered" in pilot.log.read_text()
