"""A test run that is ended in the middle leaves nothing running."""

import asyncio
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.guard import MARK
from tests.servers.running_processes import list_processes_below
from tests.waiting import eventually

pytestmark = pytest.mark.long("it is about the tests themselves")

ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a folder with a short path that the user of databases can enter."""
    folder = Path(tempfile.mkdtemp(prefix="sluice-ended-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def list_names(folder: Path, pattern: str) -> list[str]:
    return sorted(path.name for path in folder.glob(pattern))


@pytest.mark.parametrize("end_signal", [signal.SIGTERM, signal.SIGKILL])
async def test_ended_run_leaves_no_processes(folder: Path, end_signal: signal.Signals) -> None:
    environment = {
        name: value
        for name, value in os.environ.items()
        if name != MARK and not name.startswith("PYTEST_")
    }
    options = [
        "-q",
        "-p",
        "no:cacheprovider",
        f"--basetemp={folder}/base",
        "tests/servers/paused_run.py",
    ]
    with (folder / "said").open("w") as log_file:
        run = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "pytest",
            *options,
            cwd=ROOT,
            env=environment | {"TMPDIR": str(folder)},
            stdout=log_file,
            stderr=log_file,
        )

    async def has_begun() -> bool:
        assert run.returncode is None, (folder / "said").read_text()
        return bool(list_names(folder, "base/*/started"))

    async def have_all_ended() -> bool:
        return not list_processes_below(folder)

    await eventually(has_begun, what="the run has begun", seconds=120)
    assert len(list_processes_below(folder)) > 10
    run.send_signal(end_signal)
    await run.wait()
    await eventually(have_all_ended, what="nothing of the run goes on")
    if end_signal is signal.SIGTERM:
        assert list_names(folder, "sluice-*") == []
