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
    is_alive,
    make_jobs,
)
from tests.needs import ROOT_RIGHTS
from tests.servers.scripted_wms import ScriptedWms, wait_for
from tests.unit.pilot.attempts import read_log
from tests.unit.pilot.builders import SHA, make_task, make_tool
from tests.unit.pilot.slot_users import make_user, open_folder

REQUIRED = {"SLUICE_PILOT_SANDBOX": "required"}


async def test_pilot_registers_its_sandbox_and_runs_jobs_that_need_a_sandbox(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    await start_pilot(**REQUIRED)
    await wait_for(lambda: wms.registrations)
    assert wms.registrations[-1].sandbox is SandboxKind.NAMESPACES
    asking = make_task(root, SHA).model_copy(update={"needs": Needs(sandbox=True)})
    wms.add_jobs(asking, make_jobs(root, asking, 1))
    await wait_for(lambda: wms.reports)
    assert wms.reports[0][1].outcome is AttemptOutcome.FINISHED


async def test_pilot_without_a_sandbox_refuses_jobs_that_need_a_sandbox(
    wms: ScriptedWms, start_pilot: StartPilot, root: Path
) -> None:
    pilot = await start_pilot(SLUICE_PILOT_SANDBOX="off")
    assert pilot.has_said("sandbox.none")
    await wait_for(lambda: wms.registrations)
    assert wms.registrations[-1].sandbox is SandboxKind.NONE
    plain = make_task(root, SHA)
    asking = plain.model_copy(update={"uid": uuid.uuid4(), "needs": Needs(sandbox=True)})
    wms.add_jobs(plain, make_jobs(root, plain, 1))
    wms.add_jobs(asking, make_jobs(root, asking, 2)[1:])
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


def read_output(report: AttemptReport) -> str:
    return Path(report.outputs[0].url.removeprefix("file://")).read_text()


def hide_bubblewrap(place: Path) -> str:
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
    user = make_user()
    pilot = await start_pilot(
        "--work-dir",
        str(open_place / "work"),
        SLUICE_PILOT_SANDBOX="preferred",
        SLUICE_PILOT_SLOT_USERS=f"[{user.uid}]",
        PATH=hide_bubblewrap(open_place),
    )
    assert pilot.has_said("sandbox.users")
    await wait_for(lambda: wms.registrations)
    assert wms.registrations[-1].sandbox is SandboxKind.USERS
    plain = make_task(root, make_tool(["id", "-u"]))
    asking = plain.model_copy(update={"uid": uuid.uuid4(), "needs": Needs(sandbox=True)})
    wms.add_jobs(plain, make_jobs(root, plain, 1))
    wms.add_jobs(asking, make_jobs(root, asking, 2)[1:])
    await wait_for(lambda: len(wms.reports) == 2)
    reports = {report.id: report for _, report in wms.reports}
    assert read_output(reports[1]) == f"{user.uid}\n"
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
    user = make_user()
    pilot = await start_pilot(
        SLUICE_PILOT_SANDBOX="preferred",
        SLUICE_PILOT_SLOT_USERS=f"[{user.uid}]",
        PATH=hide_bubblewrap(open_place),
    )
    assert pilot.has_said("sandbox.none")
    await wait_for(lambda: wms.registrations)
    assert wms.registrations[-1].sandbox is SandboxKind.NONE
    plain = make_task(root, SHA)
    wms.add_jobs(plain, make_jobs(root, plain, 1))
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
    sleeping = make_task(root, make_tool(["sh", "-c", "setsid sleep 612 & exec sleep 611"]))
    wms.add_jobs(sleeping, make_jobs(root, sleeping, 1))

    def asleep() -> list[psutil.Process]:
        return [process for process in pilot.family() if process.name() == "sleep"]

    await wait_for(lambda: len(asleep()) == 2)
    family = [process.pid for process in pilot.family()]
    pilot.process.kill()
    await wait_for(lambda: not any(is_alive(pid) for pid in family))
