"""Run commands of the environment in processes that are forked from a loaded server.

To start Python and import a command takes longer than the work of most commands. ``python -m
tests.servers.commands PROGRAM DESCRIPTOR`` loads that program, and forks for every request on the
socket.
"""

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from threading import Lock
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(sys.executable).parent
#: Bytes of a request: the environment of a test is a few thousand.
_MAX_COMMAND_BYTES = 1 << 17


def run(
    program: str,
    *arguments: str | Path,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    answered: str = "",
    seconds: float = 120.0,
) -> "subprocess.CompletedProcess[str]":
    """Run a program of the environment as ``subprocess.run`` does, and return status and output.

    ``answered`` is the standard input.
    """
    words = [str(PROGRAMS / program), *map(str, arguments)]
    request = {"words": words, "cwd": str(cwd or Path.cwd()), "env": dict(env or os.environ)}
    with ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
        files[0].write(answered.encode())
        files[0].seek(0)
        status = _start_server(program).run(request, [file.fileno() for file in files], seconds)
        printed = []
        for file in files[1:]:
            file.seek(0)
            printed.append(file.read().decode())
    return subprocess.CompletedProcess(words, status, *printed)


class _Server:
    """A process that has loaded one program."""

    def __init__(self, program: str) -> None:
        self._control, child_socket = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * _MAX_COMMAND_BYTES)
        self._lock = Lock()
        with child_socket:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, program, str(child_socket.fileno())],
                pass_fds=[child_socket.fileno()],
                stdin=subprocess.DEVNULL,
                cwd=ROOT,
            )

    def run(self, request: Mapping[str, Any], standard: Sequence[int], seconds: float) -> int:
        """Run the program and return its exit status as ``subprocess`` does.

        ``standard`` has the descriptors of its input, output and errors. Raises ``TimeoutExpired``
        after the program was killed.
        """
        own_socket, child_socket = socket.socketpair()
        with own_socket:
            with child_socket, self._lock:
                descriptors = [*standard, child_socket.fileno()]
                socket.send_fds(self._control, [json.dumps(request).encode()], descriptors)
            with own_socket.makefile() as answers:
                pid = int(answers.readline())
                own_socket.settimeout(seconds)
                try:
                    return int(answers.readline())
                except TimeoutError:
                    os.kill(pid, signal.SIGKILL)
                    raise subprocess.TimeoutExpired(request["words"], seconds) from None

    def close(self) -> None:
        """Close the socket, which ends the server."""
        self._control.close()
        self._process.wait()


@cache
def _start_server(program: str) -> _Server:
    server = _Server(program)
    atexit.register(server.close)
    return server


def _serve(entry: EntryPoint, control: socket.socket) -> None:
    """Answer requests; return only in the processes that must run the program."""
    entry.load()
    _import_later_modules()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no process waits for these children
    while True:
        data, descriptors, _, _ = socket.recv_fds(control, _MAX_COMMAND_BYTES, 4)
        if not data:
            sys.exit()
        if not os.fork():
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            control.close()
            _fork(descriptors.pop())
            _replace_standard_streams(json.loads(data), descriptors)
            return
        for descriptor in descriptors:
            os.close(descriptor)


def _import_later_modules() -> None:
    """Import the modules that the programs import only when they run."""
    import cwltool.main  # noqa: PLC0415 - of the other process
    from cwltool.process import get_schema  # noqa: PLC0415

    from sluice.cli.app import command_line  # noqa: PLC0415

    command_line()
    for version in ("v1.0", "v1.1", "v1.2"):
        get_schema(version)
    assert cwltool.main


def _fork(answers: int) -> None:
    """Return in the child; the parent sends its process id and its exit status."""
    child = os.fork()
    if not child:
        os.close(answers)
        return
    with open(answers, "w", buffering=1) as file:
        print(child, file=file)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), file=file)
    os._exit(0)


def _replace_standard_streams(request: Mapping[str, Any], standard: Sequence[int]) -> None:
    for number, descriptor in enumerate(standard):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    os.chdir(request["cwd"])
    sys.argv = list(request["words"])
    sys.path[0] = str(PROGRAMS)
    # The help of programs shows this name.
    sys.modules["__main__"].__package__ = None


def main() -> None:
    program, descriptor = sys.argv[1:]
    [entry] = entry_points(group="console_scripts", name=program)
    _serve(entry, socket.socket(fileno=int(descriptor)))
    sys.exit(entry.load()())


if __name__ == "__main__":
    main()
