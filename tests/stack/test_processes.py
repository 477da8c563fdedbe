"""The stack restarts dead processes, and leaves no processes behind."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import psutil
import pytest

from stack.children import Children
from stack.compose import ComposeService
from stack.plan import PartKind, PlannedService
from stack.process_spec import ProcessSpec
from stack.supervisor import SupervisedProcess
from tests.waiting import eventually

ROOT = Path(__file__).parents[2]


def supervise(
    command: Sequence[str], folder: Path, children: Children, *, restart: str = "always"
) -> SupervisedProcess:
    definition = ComposeService.model_validate({"image": "test", "restart": restart})
    service = PlannedService("one", PartKind.SETUP, definition, 1, {}, {}, [])
    spec = ProcessSpec(
        name="one-1",
        service=service,
        command=command,
        environment={"PATH": os.environ["PATH"]},
        folder=folder,
        health=None,
        health_limit=0,
        endpoints={},
        stop_signal=signal.SIGTERM,
    )
    return SupervisedProcess(spec, children, folder / "log", lambda line: None, lambda: None)


@pytest.fixture
async def children() -> AsyncIterator[Children]:
    children = Children()
    yield children
    await children.end_all()


async def test_killed_process_is_started_again(children: Children, tmp_path: Path) -> None:
    one = supervise(["sleep", "1000"], tmp_path, children)
    keeping = asyncio.create_task(one.keep({}))
    try:
        await eventually(lambda: is_running(one), what="the process has started")
        first = one.send(signal.SIGKILL)
        await eventually(
            lambda: is_running(one, other_than=first), what="the process has started again"
        )
        assert one.exits == [-signal.SIGKILL]
        assert one.starts == 2
    finally:
        await one.stop(5)
        await keeping
    assert one.pid is None


async def is_running(one: SupervisedProcess, other_than: int | None = None) -> bool:
    return one.pid is not None and one.pid != other_than


async def test_setup_process_is_repeated_until_it_succeeds(
    children: Children, tmp_path: Path
) -> None:
    script = "echo again >> tries; test $(wc -l < tries) -ge 3"
    one = supervise(["sh", "-c", script], tmp_path, children, restart="on-failure")
    await asyncio.wait_for(one.keep({}), 30)
    assert one.done.is_set()
    assert one.exits == [1, 1, 0]


async def test_orphan_of_a_dead_process_is_ended(children: Children, tmp_path: Path) -> None:
    """The orphan has its own session, so that signals to the process group do not reach it."""
    one = supervise(
        ["sh", "-c", "setsid sleep 1000 & echo $! > orphan; wait"], tmp_path, children, restart="no"
    )
    keeping = asyncio.create_task(one.keep({}))

    async def orphan_there() -> bool:
        return bool((tmp_path / "orphan").exists() and (tmp_path / "orphan").read_text().strip())

    await eventually(orphan_there, what="the process id of the orphan")
    orphan = psutil.Process(int((tmp_path / "orphan").read_text()))
    one.send(signal.SIGKILL)
    await keeping

    async def is_gone() -> bool:
        children.end_orphans()
        return not orphan.is_running()

    await eventually(is_gone, what="the orphan has ended")


RUNNER = """
import asyncio
from pathlib import Path
from stack.children import Children

async def main():
    process = await Children().start(
        ["sleep", "1000"], environment={{"PATH": "{path}"}}, folder=Path("/"), log=Path("/dev/null")
    )
    print(process.pid, flush=True)
    await process.wait()

asyncio.run(main())
"""


#: Runs instead of setpriv, and then starts it.
LATE_SETPRIV = """#!/bin/sh
read -r go < "{gate}"
exec {setpriv} "$@"
"""


def test_processes_end_when_their_runner_is_killed() -> None:
    runner, child = run_a_child(os.environ["PATH"])
    runner.kill()
    runner.wait()

    psutil.wait_procs([child], timeout=30)
    assert not child.is_running()


def test_process_started_after_its_runner_was_killed_ends_too(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    late = tmp_path / "setpriv"
    late.write_text(LATE_SETPRIV.format(gate=gate, setpriv=shutil.which("setpriv")))
    late.chmod(0o755)
    runner, child = run_a_child(os.pathsep.join([str(tmp_path), os.environ["PATH"]]))
    runner.kill()
    runner.wait()
    gate.write_text("go\n")

    psutil.wait_procs([child], timeout=30)
    assert not child.is_running()


def run_a_child(path: str) -> tuple["subprocess.Popen[str]", psutil.Process]:
    script = RUNNER.format(path=path)
    runner = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=ROOT, text=True
    )
    assert runner.stdout is not None
    with runner.stdout:
        return runner, psutil.Process(int(runner.stdout.readline()))
