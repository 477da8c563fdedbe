"""A new stack continues a run after everything but storages, secrets and backup was lost."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil
import pytest

from sluice.contracts.chains.chains import Chain, ChainTask
from stack.postgres import as_system_user
from stack.running_stack import ROOT, RunningStack, run_stack
from tests.e2e.packs.spd_runs import follow_runs, generate_run, process_runs
from tests.e2e.packs.test_spd import FaultTime, assert_events, assert_storages_clean
from tests.e2e.stack_system import StackSystem
from tests.e2e.systems import NO_CONTAINERS, QUICK_LEASES
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.xdist_group("restore"),
    pytest.mark.long("tests/deploy/test_backup.py restores the server alone"),
]

REMAINING_FOLDERS = {"secrets", "data", "backup"}
SETTINGS = ",".join(f"{name}={value}" for name, value in {**QUICK_LEASES, **NO_CONTAINERS}.items())
OPTIONS = [
    "--replicas",
    "pilot=2,wms=1,chains=1",
    "--slots",
    "1",
    "--stop-limit",
    "10",
    "--set",
    SETTINGS,
]
PGDATA = Path("postgres-data/18/docker")


@pytest.fixture
def folder() -> Iterator[Path]:
    """Yield a folder outside of pytest's, as the user of the database needs access."""
    folder = Path(tempfile.mkdtemp(prefix="sluice-restore-"))
    folder.chmod(0o755)
    yield folder / "stack"
    shutil.rmtree(folder, ignore_errors=True)


def lose_everything(stack: RunningStack) -> None:
    """Kill all processes and delete their data; the runner is first, as it restarts the others."""
    runner = psutil.Process(stack.pid)
    everyone = [runner, *runner.children(recursive=True)]
    runner.suspend()
    for process in everyone:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(everyone[1:], timeout=10)
    for place in stack.folder.iterdir():
        if place.name not in REMAINING_FOLDERS:
            shutil.rmtree(place) if place.is_dir() else place.unlink()


def restore(folder: Path) -> None:
    """Restore the base backup as the how-to says, with the old backup moved away."""
    before = folder.with_name("backup-before")
    (folder / "backup").rename(before)
    data = folder / PGDATA
    data.parent.mkdir(parents=True)
    if as_system_user():
        shutil.chown(data.parent, "pgserver")
    command = [*as_system_user(), "bash", str(ROOT / "deploy/backup/restore.sh"), str(data)]
    done = subprocess.run(
        command,
        env=os.environ | {"BACKUP_FOLDER": str(before)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def resend_messages(stack: RunningStack) -> str:
    databases = stack.state()["databases"]
    environment = {
        f"SLUICE_{name.upper()}_DATABASE_URL": url
        for name, url in list_logins(stack.folder, databases).items()
    }
    done = subprocess.run(
        ["sluice", "setup", "resend"],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def list_logins(folder: Path, databases: dict[str, str]) -> dict[str, str]:
    """Return the services' own URLs with the address of the local server."""
    address = next(iter(databases.values())).rpartition("@")[2].partition("/")[0]
    urls = {
        name: (folder / "secrets" / f"sluice_{name}_database_url").read_text().strip()
        for name in databases
    }
    return {name: url.replace("postgres:5432", address) for name, url in urls.items()}


def test_new_stack_continues_from_the_backup(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Invariants 2 and 7: at the time of the loss the broker had messages, and pilots had jobs."""
    run = generate_run(tmp_path, 8, frames=10)
    with run_stack(folder, OPTIONS) as stack:
        monkeypatch.setenv("SLUICE_DMS_URL", stack.services["dms"])
        base = folder / "backup" / "base"
        wait_until(
            lambda: [path for path in base.glob("*") if path.suffix != ".partial"],
            what="the first base backup",
            seconds=60,
        )
        hidden: list[str] = []

        def lose_stack(chain: Chain, tasks: Sequence[ChainTask]) -> None:
            for task in tasks:
                if task.step == "decode" and task.jobs and task.jobs.finished > 2 and not hidden:
                    # From now on no message to the DMS arrives.
                    stack.ask(do="fault", link="dms>rabbitmq", kind="black-hole", seconds=600.0)
                    hidden.append(task.step)
                if hidden and task.jobs and task.step == "decode" and task.jobs.finished > 6:
                    raise FaultTime

        with pytest.raises(FaultTime):
            process_runs(stack.url, [run], out=tmp_path / "out", watch=lose_stack)
        lose_everything(stack)
    restore(folder)
    with run_stack(folder, OPTIONS) as stack:
        monkeypatch.setenv("SLUICE_DMS_URL", stack.services["dms"])
        assert "wms:" in resend_messages(stack), "messages that the broker had are sent again"
        [finished_chain] = follow_runs(stack.url, [run], out=tmp_path / "out")
        assert_events(run, finished_chain)
        assert_storages_clean(StackSystem(stack), [finished_chain])
