"""Pilots run tools in a sandbox, as slot users, or refuse to start."""

import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from sluice.contracts.common.states import AttemptOutcome, ErrorClass, SandboxKind
from sluice.contracts.jobs.needs import Needs
from sluice.contracts.pilots.reports import AttemptReport
from tests.integration.pilot.pilot_process import (
    StartPilot,
    alive,
    jobs_of,
)
from tests.needs import ROOT_RIGHTS
from tests.servers.scripted_wms import ScriptedWms, wait_for
from tests.unit.pilot.attempts import read_log
from tests.unit.pilot.builders import SHA, task, tool
from tests.unit.pilot.slot_users import new_user, open_folder

REQUIRED = {"SLUICE_PILOT_SANDBOX": "required"}


async def test_pilot_registers_its_sandbox_and_runs_jobs_that_need_a_sandbox(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    await start_pilot(**REQUIRED)
    await wait_for(lambda: wms.registrations)
    assert wms.registrations[-1].sandbox is SandboxKind.NAMESPACES
    asking = task(root, SHA).model_copy(update={"needs": Needs(sandbox=True)})
    wms.add_jobs(asking, jobs_of(root, asking, 1))
    await wait_for(lambda: wms.reports)
    assert wms.reports[0][1].outcome is AttemptOutcome.FINISHED


async def test_pilot_without_a_sandbox_refuses_jobs_that_need_a_sandbox(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    pilot = await start_pilot(SLUICE_PILOT_SANDBOX="off")
    assert pilot.has_said("sandbox.none")
    await wait_for(lambda: wms.registrations)
    assert wms.registrations[-1].sandbox is SandboxKind.NONE
    plain = task(root, SHA)
    asking = plain.model_copy(update={"uid": uuid.uuid4(), "needs": Needs(sandbox=True)})
    wms.add_jobs(plain, jobs_of(root, plain, 1))
    wms.add_jobs(asking, jobs_of(root, asking, 2)[1:])
    await wait_for(lambda: len(wms.reports) == 2)
    reports = {report.id: report for _, report in wms.reports}
    assert "no sandbox: the pilot's sandbox is switched off" in read_log(reports[1])
    assert reports[2].error_class is ErrorClass.INTERNAL
    assert "sluice:sandbox" in reports[2].message


async def test_pilot_that_requires_a_missing_sandbox_does_not_start(
    start_pilot: StartPilot, tmp_path: Path
) -> None:
    pilot = await start_pilot(wait=False, PATH=str(tmp_path), **REQUIRED)
    assert await pilot.ended() == 2
    assert pilot.has_said("pilot.no_sandbox")


@pytest.fixture
def open_place() -> Iterator[Path]:
    with open_folder() as folder:
        yield folder


def output_of(report: AttemptReport) -> str:
    return Path(report.outputs[0].url.removeprefix("file://")).read_text()


def without_bubblewrap(place: Path) -> str:
    """Return a PATH with the programs that tools need, without bubblewrap."""
    programs = place / "bin"
    programs.mkdir()
    for name in ("sh", "cat", "ln", "id"):
        (programs / name).symlink_to(str(shutil.which(name)))
    return str(programs)


@pytest.mark.needs(ROOT_RIGHTS)
async def test_pilot_without_a_sandbox_runs_each_slot_as_a_configured_user(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path, open_place: Path
) -> None:
    user = new_user()
    pilot = await start_pilot(
        "--work-dir",
        str(open_place / "work"),
        SLUICE_PILOT_SANDBOX="preferred",
        SLUICE_PILOT_SLOT_USERS=f"[{user.uid}]",
        PATH=without_bubblewrap(open_place),
    )
    assert pilot.has_said("sandbox.users")
    await wait_for(lambda: wms.registrations)
    assert wms.registrations[-1].sandbox is SandboxKind.USERS
    plain = task(root, tool(["id", "-u"]))
    asking = plain.model_copy(update={"uid": uuid.uuid4(), "needs": Needs(sandbox=True)})
    wms.add_jobs(plain, jobs_of(root, plain, 1))
    wms.add_jobs(asking, jobs_of(root, asking, 2)[1:])
    await wait_for(lambda: len(wms.reports) == 2)
    reports = {report.id: report for _, report in wms.reports}
    assert output_of(reports[1]) == f"{user.uid}\n"
    assert (
        "contained only by a separate user: there is no bubblewrap (bwrap) on this node's PATH;"
        f" it had the rights of user {user.uid}, and the node's network"
    ) in read_log(reports[1])
    assert reports[2].error_class is ErrorClass.INTERNAL
    assert "sluice:sandbox" in reports[2].message


@pytest.mark.needs(ROOT_RIGHTS)
async def test_slot_users_that_cannot_enter_the_work_folder_are_not_used(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path, open_place: Path
) -> None:
    """The temporary folders of pytest are closed to other users."""
    user = new_user()
    pilot = await start_pilot(
        SLUICE_PILOT_SANDBOX="preferred",
        SLUICE_PILOT_SLOT_USERS=f"[{user.uid}]",
        PATH=without_bubblewrap(open_place),
    )
    assert pilot.has_said("sandbox.none")
    await wait_for(lambda: wms.registrations)
    assert wms.registrations[-1].sandbox is SandboxKind.NONE
    plain = task(root, SHA)
    wms.add_jobs(plain, jobs_of(root, plain, 1))
    await wait_for(lambda: wms.reports)
    log = read_log(wms.reports[0][1])
    assert "no sandbox: there is no bubblewrap (bwrap) on this node's PATH; tools cannot run" in log
    assert f"as user {user.uid}: sh: Permission denied" in log


async def test_pilot_with_a_root_slot_user_does_not_start(start_pilot: StartPilot) -> None:
    pilot = await start_pilot(wait=False, SLUICE_PILOT_SLOT_USERS="[0]", **REQUIRED)
    assert await pilot.ended() == 2
    assert pilot.has_said("pilot.wrong_users")


async def test_killed_pilot_takes_its_sandboxed_processes_with_it(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    pilot = await start_pilot(**REQUIRED)
    sleeping = task(root, tool(["sh", "-c", "setsid sleep 612 & exec sleep 611"]))
    wms.add_jobs(sleeping, jobs_of(root, sleeping, 1))

    def asleep() -> list[psutil.Process]:
        return [process for process in pilot.family() if process.name() == "sleep"]

    await wait_for(lambda: len(asleep()) == 2)
    family = [process.pid for process in pilot.family()]
    pilot.process.kill()
    await wait_for(lambda: not any(alive(pid) for pid in family))
