"""Messages and exit status of commands that a signal ends."""

import asyncio
import os
import pty
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sluice.process.termination import complete

COMMAND = ["env", "--default-signal=HUP,TERM", sys.executable, "-m", "sluice.cli"]
CHAIN = "01890000-0000-7000-8000-000000000000"


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """Yield a server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        yield server


def make_url_option(server: socket.socket) -> list[str]:
    return ["--url", f"http://127.0.0.1:{server.getsockname()[1]}"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize(
    ("arguments", "consequence"),
    [
        (["chain", "get", CHAIN], "copied files are kept; the same command copies the rest"),
        (["chain", "watch", CHAIN], f"the chain continues; `sluice chain watch {CHAIN} --url"),
        (["run", "tool.cwl"], "no chain had begun"),
        (["chain", "list"], ""),
    ],
)
def test_command_says_which_signal_ended_it(
    silent: socket.socket,
    tmp_path: Path,
    number: signal.Signals,
    arguments: list[str],
    consequence: str,
) -> None:
    (tmp_path / "tool.cwl").write_text("{class: Workflow, inputs: {}, outputs: {}, steps: {}}")
    with subprocess.Popen(
        [*COMMAND, *arguments, *make_url_option(silent)],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    ) as command:
        connection, _ = silent.accept()
        with connection:
            command.send_signal(number)
            _, stderr = command.communicate(timeout=60)
    assert command.returncode == 128 + number
    assert f"ended by {number.name}" in stderr
    assert consequence in stderr
    assert "Traceback" not in stderr


@pytest.mark.parametrize("module", ["asyncio", "typer", "sluice.cli.commands.chains.run"])
def test_ctrl_c_during_imports_leaves_no_traceback(module: str) -> None:
    interrupt = (
        "import signal, sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == {module!r}:\n"
        "            signal.raise_signal(signal.SIGINT)\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "from sluice.cli.__main__ import main\n"
        "main()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", interrupt, "run", "--help"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (130, "interrupted\n")


def test_command_without_its_terminal_ends_with_the_status_of_the_signal(
    silent: socket.socket,
) -> None:
    ours, terminal = pty.openpty()
    command = subprocess.Popen(
        [*COMMAND, "chain", "watch", CHAIN, *make_url_option(silent)],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
    )
    os.close(terminal)
    connection, _ = silent.accept()
    os.close(ours)
    with connection:
        command.send_signal(signal.SIGHUP)
        assert command.wait(60) == 128 + signal.SIGHUP


async def test_canceled_request_is_completed_before_its_caller_ends() -> None:
    request_sent, answer, known_chains = asyncio.Event(), asyncio.Event(), []

    async def request() -> None:
        request_sent.set()
        await answer.wait()
        known_chains.append(CHAIN)

    caller = asyncio.create_task(complete(request()))
    await request_sent.wait()
    caller.cancel()
    asyncio.get_running_loop().call_soon(answer.set)
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert known_chains == [CHAIN]


async def test_second_cancellation_ends_a_request() -> None:
    request_sent, ended = asyncio.Event(), asyncio.Event()

    async def request() -> None:
        request_sent.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    caller = asyncio.create_task(complete(request()))
    await request_sent.wait()
    caller.cancel()
    await asyncio.wait([caller], timeout=0.1)
    assert not caller.done()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(caller, 60)
    await asyncio.wait_for(ended.wait(), 60)
