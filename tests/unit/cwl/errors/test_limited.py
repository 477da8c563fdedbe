"""The compiler kills checks that cost too much, and they do not delay other people's checks."""

import asyncio
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import psutil
import pytest

from sluice.contracts.access.access import Role
from sluice.cwl import take_files
from sluice.cwl.limited import LimitedCompiler
from sluice.servicekit.access.principal import Person
from sluice.servicekit.audit.request import PersonRequest, bind_request
from tests.unit.cwl.errors.hostile_texts import make_forty_steps
from tests.unit.cwl.samples import LINEAR, edit_text
from tests.waiting import wait_until
from wfms.operator.templates.usecases.compile_files import CompilationResult, Compiler

_DEEP = "{type: record, name: r, fields: [{name: x, type: " * 10 + "int" + "}]}" * 10
#: Deeply nested types, so many that the libraries take minutes.
ENDLESS = edit_text(
    (
        "  frames: File[]",
        "".join(f"  p{n}: {{type: {_DEEP}}}\n" for n in range(200)) + "  frames: File[]",
    )
)


#: Checks a template in a new process, which starts its own fork server.
_CHECK = """
import os, resource, signal, sys
from sluice.contracts.common.problems import NotAvailable
from sluice.cwl import take_files
from sluice.cwl.limited import LimitedCompiler

if __name__ == "__main__":
    upload = take_files({"a.cwl": sys.stdin.read()}, main=None)
    if "no-files" in sys.argv:
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, most))
    try:
        print(LimitedCompiler().compile(upload, name="t").compiled.errors)
    except NotAvailable as error:
        print(error)
    if "killed" in sys.argv:
        os.kill(os.getpid(), signal.SIGKILL)
"""


def _check_in_new_process(folder: Path, *arguments: str, status: int = 0) -> str:
    script = folder / "check.py"
    script.write_text(_CHECK)
    done = subprocess.run(
        [sys.executable, str(script), *arguments],
        input=LINEAR,
        env=os.environ | {"TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == status, done.stderr
    return done.stdout.strip()


def test_template_check_accepts_a_long_name_of_the_temporary_folder(tmp_path: Path) -> None:
    """The address of a socket has at most 107 bytes."""
    folder = tmp_path / ("long-" * 24)
    folder.mkdir()
    assert _check_in_new_process(folder) == "[]"


def test_killed_process_leaves_no_temporary_folder(tmp_path: Path) -> None:
    _check_in_new_process(tmp_path, "killed", status=-signal.SIGKILL)
    wait_until(lambda: not list(tmp_path.glob("pymp-*")), what="the folder is removed", seconds=60)


def test_check_reports_that_no_process_can_start(tmp_path: Path) -> None:
    """A general OSError would be reported as an unavailable database."""
    message = _check_in_new_process(tmp_path, "no-files")
    assert message.startswith("no process can be started that checks the template (")
    assert "Too many open files" in message


def _list_processes() -> list[int]:
    """Return the processes that check templates: children of the fork server."""
    return [
        process.pid
        for server in psutil.Process().children()
        if _is_fork_server(server)
        for process in server.children()
    ]


def _is_fork_server(process: psutil.Process) -> bool:
    try:
        return "multiprocessing.forkserver" in " ".join(process.cmdline())
    except psutil.NoSuchProcess:  # the process has ended
        return False


def test_check_within_its_limits_returns_the_plan() -> None:
    result = LimitedCompiler().compile(take_files({"a.cwl": LINEAR}, main=None), name="t")
    assert result.compiled.errors == []
    assert result.compiled.plan is not None
    assert result.main == "a.cwl"


@pytest.mark.parametrize("limit", [{"seconds": 0.0}, {"memory": 16 * 1024**2}])
def test_check_is_stopped_at_its_limit(limit: dict[str, float]) -> None:
    result = LimitedCompiler(**limit).compile(  # type: ignore[arg-type] # a number of each kind
        take_files({"a.cwl": make_forty_steps()}, main=None), name="t"
    )
    assert result.compiled.plan is None
    [error] = result.compiled.errors
    assert "the check was stopped" in error.message
    assert _list_processes() == []


def test_stop_ends_a_running_check() -> None:
    limited = LimitedCompiler(cpu_seconds=100_000, seconds=100_000)
    upload = take_files({"a.cwl": ENDLESS}, main=None)
    with ThreadPoolExecutor() as aside:
        check = aside.submit(limited.compile, upload, name="t")
        wait_until(_list_processes, what="the process of the check")
        limited.stop()
        assert check.result().compiled.plan is None


def _check(compiler: Compiler, person: str, text: str) -> "asyncio.Task[CompilationResult]":
    """Start the check in the context of a person's request."""
    request = PersonRequest(Person(person, Role.SUBMITTER), uuid4())
    with bind_request(request):
        upload = take_files({"a.cwl": text}, main=None)
        return asyncio.create_task(compiler.compile(upload, name="t"))


async def test_checks_of_a_person_do_not_delay_checks_of_others() -> None:
    compiler = Compiler()
    await compiler.start()
    slow = [_check(compiler, "anna", ENDLESS) for _ in range(10)]
    try:
        other = await _check(compiler, "bo", LINEAR)
        assert other.plan is not None
        assert not any(task.done() for task in slow)
    finally:
        for task in slow[1:]:
            task.cancel()
        await compiler.stop()
    assert (await slow[0]).plan is None
