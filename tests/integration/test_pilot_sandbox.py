"""A pilot whose tools run in its node's sandbox."""

import uuid
from pathlib import Path

import psutil

from sluice.contracts.needs import Needs
from sluice.contracts.states import AttemptOutcome, ErrorClass, SandboxKind
from tests.integration.pilot_process import (
    StartPilot,
    alive,
    jobs_of,
    root,
    start_pilot,
    wms,
)
from tests.servers.scripted_wms import ScriptedWms, until
from tests.unit.pilot.attempts import log_of
from tests.unit.pilot.builders import SHA, task, tool

__all__ = ["root", "start_pilot", "wms"]  # fixtures

REQUIRED = {"SLUICE_PILOT_SANDBOX": "required"}


async def test_a_pilot_tells_what_it_has_and_runs_what_asks_for_it(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    await start_pilot(**REQUIRED)
    await until(lambda: wms.registered)
    assert wms.registered[-1].sandbox is SandboxKind.NAMESPACES
    asking = task(root, SHA).model_copy(update={"needs": Needs(sandbox=True)})
    wms.add(asking, jobs_of(root, asking, 1))
    await until(lambda: wms.reports)
    assert wms.reports[0][1].outcome is AttemptOutcome.FINISHED


async def test_without_one_what_asks_for_it_is_refused_and_the_log_of_others_says_so(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    pilot = await start_pilot(SLUICE_PILOT_SANDBOX="off")
    assert pilot.has_said("sandbox.none")
    await until(lambda: wms.registered)
    assert wms.registered[-1].sandbox is SandboxKind.NONE
    plain = task(root, SHA)
    asking = plain.model_copy(update={"uid": uuid.uuid4(), "needs": Needs(sandbox=True)})
    wms.add(plain, jobs_of(root, plain, 1))
    wms.add(asking, jobs_of(root, asking, 2)[1:])
    await until(lambda: len(wms.reports) == 2)
    reports = {report.id: report for _, report in wms.reports}
    assert "no sandbox: the pilot's sandbox is switched off" in log_of(reports[1])
    assert reports[2].error_class is ErrorClass.INTERNAL
    assert "sluice:sandbox" in reports[2].message


async def test_where_it_is_required_and_cannot_be_had_no_pilot_starts(
    start_pilot: StartPilot, tmp_path: Path
) -> None:
    pilot = await start_pilot(wait=False, PATH=str(tmp_path), **REQUIRED)
    assert await pilot.ended() == 2
    assert pilot.has_said("pilot.no_sandbox")


async def test_a_killed_pilot_takes_what_runs_in_the_sandbox_with_it(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    pilot = await start_pilot(**REQUIRED)
    sleeping = task(root, tool(["sh", "-c", "setsid sleep 612 & exec sleep 611"]))
    wms.add(sleeping, jobs_of(root, sleeping, 1))

    def asleep() -> list[psutil.Process]:
        return [process for process in pilot.family() if process.name() == "sleep"]

    await until(lambda: len(asleep()) == 2)
    family = [process.pid for process in pilot.family()]
    pilot.process.kill()
    await until(lambda: not any(alive(pid) for pid in family))
