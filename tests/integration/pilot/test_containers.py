"""The containers that a pilot starts do not outlive the slot or the pilot."""

import signal
from contextlib import suppress
from pathlib import Path

import psutil

from sluice.contracts.common.states import ContainerEngine
from tests.integration.pilot.pilot_process import StartPilot, make_jobs
from tests.processes import read_command_line
from tests.servers.podman import IMAGE, start_podman
from tests.servers.scripted_wms import ScriptedWms, wait_for
from tests.unit.pilot.builders import make_task, make_tool


async def test_pilot_registers_the_container_engines_that_work_and_are_allowed(
    wms: ScriptedWms, start_pilot: StartPilot
) -> None:
    podman = start_podman()
    try:
        first = await start_pilot(
            SLUICE_PILOT_CONTAINERS='["udocker", "podman"]', **podman.environment
        )
        assert wms.registrations[-1].engines == [ContainerEngine.PODMAN]
        first.process.send_signal(signal.SIGTERM)
        await first.ended()
        await start_pilot(SLUICE_PILOT_CONTAINERS="[]", **podman.environment)
        assert wms.registrations[-1].engines == []
    finally:
        podman.stop()


async def test_containers_are_removed_when_their_slot_or_pilot_is_killed(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    """Invariant 7: the container engine does not notice the kill of the slot or of the pilot."""
    podman = start_podman()
    try:
        settings = {"SLUICE_PILOT_CONTAINERS": '["podman"]', **podman.environment}
        pilot = await start_pilot(**settings)
        docker = [{"class": "DockerRequirement", "dockerPull": IMAGE}]
        task_ = make_task(root, make_tool(["/bin/sleep", "1000"], requirements=docker))
        wms.add_jobs(task_, make_jobs(root, task_, 2))
        await wait_for(podman.containers, seconds=60)
        runners = [
            process
            for process in pilot.family()
            if "pilot.runner" in " ".join(read_command_line(process))
        ]
        [server] = [process for process in runners if process.ppid() == pilot.process.pid]
        [slot] = [process for process in runners if process.parent() == server]
        slot.kill()
        await wait_for(lambda: wms.find_report(1) is not None, seconds=60)
        await wait_for(podman.containers, seconds=60)
        left = podman.containers()
        for process in [psutil.Process(pilot.process.pid), *pilot.family()]:
            with suppress(psutil.NoSuchProcess):
                if process.name() not in {"conmon", "sleep"}:
                    process.kill()
        await pilot.ended()
        await start_pilot(**settings)
        assert not set(left) & set(podman.containers())
    finally:
        podman.stop()
