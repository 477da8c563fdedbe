"""The pilot's side of its slots: starts processes, sends frames and reports lost slots."""

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
from pilot.isolation.node.memory_groups import remove_slot_groups
from pilot.node.engines import ENGINE_VARIABLES, SLOT_LABEL, remove_containers
from pilot.runner.programs.orphans import has_ended, kill_orphans
from pilot.runner.progress_file import read_slot_progress
from pilot.runner.protocol import (
    SLOT_NUMBER,
    EndedFrame,
    ReadyFrame,
    RunnerSettings,
    ToSlot,
    UnloadedFrame,
    encode_frame,
    from_slot,
    read_frame,
)

log = structlog.get_logger(__name__)

#: Variables that slot processes inherit from the pilot's environment.
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

#: Maximum size of a frame, which may contain a large tool.
_MAX_FRAME = 1 << 26


@dataclass(frozen=True, slots=True)
class SlotListener:
    """Callbacks for events of slot processes, called in the event loop."""

    on_ready: Callable[[int], None]
    on_end: Callable[[int, EndedFrame], None]
    on_unload: Callable[[int], None]
    on_loss: Callable[[int, str], None]
    on_release: Callable[[int], None]


class SlotProcesses:
    """Processes of the slots.

    ``inherit`` are descriptors that slots keep open. ``reap`` says that this process adopts and
    ends orphans of dead slots.
    """

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
        #: Slots that are being killed.
        self._killed_slots: set[int] = set()
        #: Slots that were told to end because they are not needed.
        self._leaving_slots: set[int] = set()
        self._stopping = False
        # Slots are often lost together with the server. One of them starts the next server, and the
        # others wait for it.
        self._starting = asyncio.Lock()

    async def start(self, listener: SlotListener) -> None:
        """Start the server of slot processes.

        Raises:
            OSError: The server could not be started.
        """
        self._listener = listener
        await self._start_server()

    async def start_slot(self, slot: int) -> None:
        """Start the process of a slot for the first time or again.

        Raises:
            OSError: The process cannot be started now.
        """
        if self._stopping:
            return
        async with self._starting:
            if self._server is None or self._server.returncode is not None:
                await self._start_server()
            own_end, other_end = socket.socketpair()
            with other_end:
                assert self._control is not None  # noqa: S101 - the server is started above
                try:
                    number = SLOT_NUMBER.pack(slot)
                    socket.send_fds(self._control, [number], [other_end.fileno()])
                except OSError:  # The server has just ended.
                    own_end.close()
                    raise
        reader, writer = await asyncio.open_connection(sock=own_end, limit=_MAX_FRAME)
        self._writers[slot] = writer
        self._readers[slot] = asyncio.create_task(
            self._read_frames(slot, reader), name=f"slot {slot}"
        )

    def send(self, slot: int, frame: ToSlot) -> None:
        """Send a frame to a slot.

        If the slot has just ended, the frame is dropped. An event reports the loss of the slot.
        """
        writer = self._writers.get(slot)
        if writer is not None and not writer.is_closing():
            writer.write(encode_frame(frame))

    def kill_slot(self, slot: int) -> None:
        """Kill a slot that does not stop its job.

        Afterwards it is treated like a slot that ended by itself.
        """
        log.error("slot.ended", slot=slot, note="it did not stop its job when it was told to")
        self._killed_slots.add(slot)
        with suppress(KeyError, ProcessLookupError):  # The slot has just ended.
            os.kill(self._pids[slot], signal.SIGKILL)

    def release_slot(self, slot: int) -> None:
        """Let a ready slot without a job end, by closing its connection for writing."""
        log.info("slot.leaves", slot=slot)
        self._leaving_slots.add(slot)
        writer = self._writers.get(slot)
        if writer is not None:  # Without a writer, the slot has just ended.
            writer.write_eof()

    def progress(self) -> dict[Token, Progress]:
        """Return the recorded progress of the jobs in the slots."""
        run = RunFolder(Path(self._settings.run_folder))
        return dict(
            progress
            for pid in self._pids.values()
            if (progress := read_slot_progress(run.phase_file(pid))) is not None
        )

    def _delete_slot(self, pid: int) -> None:
        """Delete the folders and groups of a slot that has left."""
        RunFolder(Path(self._settings.run_folder)).forget_slot(pid)
        if self._settings.memory_groups is not None:
            remove_slot_groups(self._settings.memory_groups, pid)

    async def stop(self) -> None:
        """End all slots. They kill the tools that still run."""
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
        own_end, other_end = socket.socketpair()
        with other_end:
            self._server = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "pilot.runner",
                str(other_end.fileno()),
                self._settings.model_dump_json(),
                stdin=asyncio.subprocess.DEVNULL,
                pass_fds=(other_end.fileno(), *self._inherit),
                env=self._server_environment(),
                start_new_session=True,
            )
        self._control = own_end

    def _server_environment(self) -> dict[str, str]:
        inherited = {name: os.environ[name] for name in self._environment if name in os.environ}
        return {
            **inherited,
            "PYTHONPATH": str(Path(__file__).resolve().parent.parent),
            "PYTHONSAFEPATH": "1",
        }

    async def _read_frames(self, slot: int, reader: asyncio.StreamReader) -> None:
        """Report the frames of a slot until its process ends, and clean up after it."""
        assert self._listener is not None  # noqa: S101 - set before the first slot starts
        while (body := await read_frame(reader)) is not None:
            frame = from_slot.validate_json(body)
            if isinstance(frame, ReadyFrame):
                self._pids[slot] = frame.pid
                self._listener.on_ready(slot)
            elif isinstance(frame, UnloadedFrame):
                self._listener.on_unload(slot)
            else:
                self._listener.on_end(slot, frame)
        pid = self._pids.pop(slot, None)
        self._writers.pop(slot).close()
        if not self._stopping:
            await self._clean_up_slot(slot, pid, self._listener)

    async def _clean_up_slot(self, slot: int, pid: int | None, listener: SlotListener) -> None:
        """Remove what the process of a slot left behind, and report the slot.

        ``pid`` is None if the process ended before it was ready.
        """
        leaving = slot in self._leaving_slots
        self._leaving_slots.discard(slot)
        if not leaving:
            log.error("slot.lost", slot=slot)
        if self._reap:
            await self._kill_leftover_processes(pid)
        if self._settings.engine is not None and pid is not None:
            run = Path(self._settings.run_folder).name
            await asyncio.to_thread(
                remove_containers, self._settings.engine, f"{SLOT_LABEL}={run}.{pid}"
            )
        if leaving:
            if pid is not None:
                await asyncio.to_thread(self._delete_slot, pid)
            listener.on_release(slot)
            return
        was_killed = slot in self._killed_slots
        self._killed_slots.discard(slot)
        listener.on_loss(slot, _NOT_STOPPED if was_killed else "ended unexpectedly")

    async def _kill_leftover_processes(self, pid: int | None) -> None:
        """Wait until the process of a slot has ended, and kill the processes that it left."""
        # The connection ends before the children of the slot get a new parent.
        while pid is not None and not has_ended(pid):  # noqa: ASYNC110 - the kernel sends no event for it
            await asyncio.sleep(0.01)
        own = set(self._pids.values()) | ({self._server.pid} if self._server is not None else set())
        kill_orphans(frozenset(own))
