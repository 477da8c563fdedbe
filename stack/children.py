"""Child processes, including orphans that a child has left behind, as in its container."""

import asyncio
import ctypes
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

PR_SET_CHILD_SUBREAPER = 36


class Children:
    """The processes below this one.

    A process that loses its parent below this process becomes its child. A container would end it;
    ``end_orphans`` does.
    """

    def __init__(self) -> None:
        self._own_children: dict[int, asyncio.subprocess.Process] = {}
        self._starting = 0
        #: Children that existed before. They are not ended.
        self._before = {child.pid for child in psutil.Process().children()}
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    async def start(
        self, command: Sequence[str], *, environment: Mapping[str, str], folder: Path, log: Path
    ) -> asyncio.subprocess.Process:
        """Start a command in its own process group. It dies with this process.

        Raises:
            OSError: It cannot be started.
        """
        self._starting += 1
        try:
            with log.open("ab") as output:
                process = await asyncio.create_subprocess_exec(
                    *_tie_to_this_process(command),
                    env=environment,
                    cwd=folder,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                )
            self._own_children[process.pid] = process
            return process
        finally:
            self._starting -= 1

    async def run(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        folder: Path,
        log: Path,
        limit: float,
    ) -> int:
        """Run a short command and return its exit status, or 124 after ``limit`` seconds."""
        process = await self.start(command, environment=environment, folder=folder, log=log)
        try:
            async with asyncio.timeout(limit):
                return await process.wait()
        except TimeoutError:
            return 124
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()

    def end_orphans(self) -> None:
        """Kill every child that was not started here, with its descendants, and reap ended ones."""
        if self._starting:
            return
        self._own_children = {
            pid: process
            for pid, process in self._own_children.items()
            if process.returncode is None
        }
        for child in psutil.Process().children():
            if child.pid in self._own_children or child.pid in self._before:
                continue
            _kill_tree(child)
            with suppress(ChildProcessError):
                os.waitpid(child.pid, os.WNOHANG)

    async def keep_tidy(self) -> None:
        """End orphans every second."""
        while True:
            self.end_orphans()
            await asyncio.sleep(1)

    async def end_all(self) -> None:
        """Kill all children that are left."""
        while remaining := [
            child for child in psutil.Process().children() if child.pid not in self._before
        ]:
            for child in remaining:
                _kill_tree(child)
            self.end_orphans()
            await asyncio.sleep(0.02)


def _kill_tree(top: psutil.Process) -> None:
    with suppress(psutil.NoSuchProcess):
        for process in [*top.children(recursive=True), top]:
            with suppress(psutil.NoSuchProcess):
                process.kill()


def _tie_to_this_process(command: Sequence[str]) -> list[str]:
    """Return a command that dies when this process ends, also when it is killed.

    A parent that is gone before the signal is requested sends none, so the child checks that it
    still exists. A change of the user cancels the request, so a command with ``setpriv … --`` does
    both at once.
    """
    user: Sequence[str] = []
    if command[0] == "setpriv":
        end = command.index("--")
        user, command = command[1:end], command[end + 1 :]
    check = ["sh", "-c", 'test "$PPID" = "$0" && exec "$@"', str(os.getpid())]
    return ["setpriv", "--pdeathsig=KILL", *user, "--", *check, *command]
