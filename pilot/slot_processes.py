"""The pilot's side of its slots: starts their processes, hands frames over, tells when one has
gone."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import structlog

from pilot.domain.model import Progress, Token
from pilot.folders.run_folder import RunFolder
from pilot.node.engines import ENGINE_VARIABLES, SLOT_LABEL, remove_containers
from pilot.node.memory_groups import remove_slot_groups
from pilot.runner.programs.orphans import has_ended, kill_orphans
from pilot.runner.progress_file import read_slot_progress
from pilot.runner.protocol import (
    SLOT_NUMBER,
    EndedFrame,
    ReadyFrame,
    RunnerSettings,
    ToSlot,
    UnloadedFrame,
    frame_bytes,
    from_slot,
    read_frame,
)

log = structlog.get_logger(__name__)

#: Variables that the processes of the slots get from the pilot's environment.
_ENVIRONMENT = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
)

_NOT_STOPPED = "did not stop it when it was told to, and was killed"

#: Frames may hold tasks with large tools.
_MOST_FRAME = 1 << 26


@dataclass(frozen=True, slots=True)
class SlotListener:
    """What the processes of the slots tell, called in the event loop."""

    ready: Callable[[int], None]
    ended: Callable[[int, EndedFrame], None]
    unloaded: Callable[[int], None]
    lost: Callable[[int, str], None]
    left: Callable[[int], None]


class SlotProcesses:
    """``inherit``: descriptors that the slots keep open. ``reap``: this process gets the orphans of
    dead slots, and ends them."""

    def __init__(
        self,
        settings: RunnerSettings,
        *,
        environment: Sequence[str],
        inherit: Sequence[int],
        reap: bool,
    ) -> None:
        self._settings = settings
        self._environment = (*_ENVIRONMENT, *ENGINE_VARIABLES, *environment)
        self._inherit = tuple(inherit)
        self._reap = reap
        self._listener: SlotListener | None = None
        self._server: asyncio.subprocess.Process | None = None
        self._control: socket.socket | None = None
        self._writers: dict[int, asyncio.StreamWriter] = {}
        self._readers: dict[int, asyncio.Task[None]] = {}
        self._pids: dict[int, int] = {}
        #: Slots that are being ended.
        self._ended: set[int] = set()
        #: Those that were told to end as there is no use for them.
        self._leaving: set[int] = set()
        self._stopping = False
        # Slots are often lost all at once, with the server: one of them starts the next server, and
        # the others wait for it.
        self._starting = asyncio.Lock()

    async def start(self, listener: SlotListener) -> None:
        """Slots can be started then. Raises ``OSError``."""
        self._listener = listener
        await self._start_server()

    async def start_slot(self, slot: int) -> None:
        """Starts (again) the process of one slot. Raises ``OSError`` where that cannot be, now."""
        if self._stopping:
            return
        async with self._starting:
            if self._server is None or self._server.returncode is not None:
                await self._start_server()
            ours, theirs = socket.socketpair()
            with theirs:
                assert self._control is not None  # noqa: S101 - the server is started above
                try:
                    number = SLOT_NUMBER.pack(slot)
                    socket.send_fds(self._control, [number], [theirs.fileno()])
                except OSError:  # the server has just gone
                    ours.close()
                    raise
        reader, writer = await asyncio.open_connection(sock=ours, limit=_MOST_FRAME)
        self._writers[slot] = writer
        self._readers[slot] = asyncio.create_task(self._read(slot, reader), name=f"slot {slot}")

    def send(self, slot: int, frame: ToSlot) -> None:
        """A slot that has just gone gets nothing; its loss is told by its own event."""
        writer = self._writers.get(slot)
        if writer is not None and not writer.is_closing():
            writer.write(frame_bytes(frame))

    def end_slot(self, slot: int) -> None:
        """Kills a slot that was ready, whatever it is at; the rest is as of one that ends by
        itself."""
        log.error("slot.ended", slot=slot, note="it did not stop its job when it was told to")
        self._ended.add(slot)
        with suppress(KeyError, ProcessLookupError):  # it has just gone
            os.kill(self._pids[slot], signal.SIGKILL)

    def let_go(self, slot: int) -> None:
        """A slot that is ready and has no job ends by itself, as when its pilot has gone."""
        log.info("slot.leaves", slot=slot)
        self._leaving.add(slot)
        writer = self._writers.get(slot)
        if writer is not None:  # else it has just gone
            writer.write_eof()

    def progress(self) -> dict[Token, Progress]:
        """Of the jobs that the slots are at, as far as they have noted it."""
        run = RunFolder(Path(self._settings.run_folder))
        return dict(
            found
            for pid in self._pids.values()
            if (found := read_slot_progress(run.phase_file(pid))) is not None
        )

    def _forget(self, pid: int) -> None:
        """What a slot that has left needed."""
        RunFolder(Path(self._settings.run_folder)).forget_slot(pid)
        if self._settings.memory_groups is not None:
            remove_slot_groups(self._settings.memory_groups, pid)

    async def stop(self) -> None:
        """Ends all slots; tools that still run are killed by them."""
        self._stopping = True
        for writer in self._writers.values():
            writer.close()
        await asyncio.gather(*self._readers.values(), return_exceptions=True)
        if self._control is not None:
            self._control.close()
        if self._server is not None:
            try:
                async with asyncio.timeout(5.0):
                    await self._server.wait()
            except TimeoutError:
                self._server.kill()
                await self._server.wait()

    async def _start_server(self) -> None:
        if self._control is not None:
            self._control.close()
        ours, theirs = socket.socketpair()
        with theirs:
            self._server = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "pilot.runner",
                str(theirs.fileno()),
                self._settings.model_dump_json(),
                stdin=asyncio.subprocess.DEVNULL,
                pass_fds=(theirs.fileno(), *self._inherit),
                env=self._server_environment(),
                start_new_session=True,
            )
        self._control = ours

    def _server_environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in self._environment if name in os.environ}
        return {
            **kept,
            "PYTHONPATH": str(Path(__file__).resolve().parent.parent),
            "PYTHONSAFEPATH": "1",
        }

    async def _read(self, slot: int, reader: asyncio.StreamReader) -> None:
        assert self._listener is not None  # noqa: S101 - set before the first slot starts
        while (body := await read_frame(reader)) is not None:
            frame = from_slot.validate_json(body)
            if isinstance(frame, ReadyFrame):
                self._pids[slot] = frame.pid
                self._listener.ready(slot)
            elif isinstance(frame, UnloadedFrame):
                self._listener.unloaded(slot)
            else:
                self._listener.ended(slot, frame)
        pid = self._pids.pop(slot, None)
        self._writers.pop(slot).close()
        if self._stopping:
            return
        leaving = slot in self._leaving
        self._leaving.discard(slot)
        if not leaving:
            log.error("slot.lost", slot=slot)
        if self._reap:
            # Its connection ends before its children change their parent: those would be missed.
            while pid is not None and not has_ended(pid):  # noqa: ASYNC110 - the kernel sends no event for it
                await asyncio.sleep(0.01)
            own = set(self._pids.values()) | (
                {self._server.pid} if self._server is not None else set()
            )
            kill_orphans(frozenset(own))
        if self._settings.engine is not None and pid is not None:
            run = Path(self._settings.run_folder).name
            await asyncio.to_thread(
                remove_containers, self._settings.engine, f"{SLOT_LABEL}={run}.{pid}"
            )
        if leaving:
            if pid is not None:
                await asyncio.to_thread(self._forget, pid)
            self._listener.left(slot)
            return
        told = slot in self._ended
        self._ended.discard(slot)
        self._listener.lost(slot, _NOT_STOPPED if told else "ended unexpectedly")
