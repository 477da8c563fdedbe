"""Frames between the pilot and its slots: four bytes of length (big-endian), then JSON."""

import asyncio
import select
import socket
import struct
from collections.abc import Callable
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, TypeAdapter

from pilot.domain.model import StopReason
from pilot.node.engines import Engine
from pilot.node.memory_groups import MemoryGroups
from pilot.sandbox.sandbox import Sandbox
from pilot.users.slot_user import SlotUser
from sluice.contracts.base import Contract
from sluice.contracts.loaded import LoadedTool
from sluice.contracts.pilots import AttemptReport, LeasedJob, PilotTask
from sluice.contracts.secrets import HoldsSecrets, SecretText

_LENGTH = struct.Struct(">I")
#: What comes with the connection of a slot: its number.
SLOT_NUMBER = struct.Struct(">H")


class RunnerSettings(Contract):
    """What a slot has to know of its pilot. ``grace``: seconds between SIGTERM and SIGKILL. A job
    may use ``memory_factor`` times the memory it asked for, but at least ``memory_floor`` MiB; one
    that asked for none, ``memory_unasked`` (0: no limit). ``log_limit``: bytes kept of each of a
    tool's two streams. ``live_logs``: seconds between two looks at what a tool that runs has
    written, 0: none. ``checkpoint_limit``: bytes of all files of a job's checkpoint, 0: none are
    kept. ``sandbox_required``: no JavaScript outside of bubblewrap.
    ``expression_limit``: seconds for each expression. ``engine``: what containers are run with;
    ``images``: folder for what it needs beside. ``memory_groups``: where the kernel keeps the tools
    of each slot within their memory. ``assets``: folder for files of assets, of at most
    ``asset_cache`` bytes (0: none are kept). ``sandbox``: what tools run in; where there is none,
    ``no_sandbox`` says why. ``users``: of each slot, where tools run as those instead. ``gpus``:
    the node's: paths of their device files by their uuid."""

    pilot: str
    run_folder: str
    grace: float = 5.0
    memory_factor: float = 2.0
    memory_floor: int = 1024
    memory_unasked: int = 0
    log_limit: int = 1 << 20
    live_logs: float = 0.0
    checkpoint_limit: int = 1 << 30
    sandbox_required: bool = False
    expression_limit: float = 20.0
    engine: Engine | None = None
    images: str = ""
    assets: str = ""
    asset_cache: int = 0
    memory_groups: MemoryGroups | None = None
    sandbox: Sandbox | None = None
    no_sandbox: str = ""
    users: list[SlotUser] = Field(default_factory=list)
    gpus: dict[str, str] = Field(default_factory=dict)


class TaskFrame(Contract):
    kind: Literal["task"] = "task"
    task: PilotTask


class ForgetFrame(Contract):
    kind: Literal["forget"] = "forget"
    uid: UUID


class JobFrame(HoldsSecrets):
    """``secrets``: values by port of the tool. ``trouble``: why there are none though the job needs
    them. ``stop``: it is to be stopped already. ``gpus``: by uuid, that it may use. ``deadline``:
    see ``RenewFrame``; None: there is none."""

    kind: Literal["job"] = "job"
    job: LeasedJob
    secrets: dict[str, SecretText] = Field(default_factory=dict)
    trouble: str = ""
    stop: StopReason | None = None
    gpus: list[str] = Field(default_factory=list)
    deadline: float | None = None


class RenewFrame(Contract):
    """The slot stops the attempt by itself at the tick ``deadline`` (``pilot.ticks``), as does a
    pilot that is not itself stopped then."""

    kind: Literal["renew"] = "renew"
    id: int
    attempt: int
    deadline: float


class UnloadFrame(Contract):
    """The tool that has stayed loaded is to end, unless a job of its kind is there already."""

    kind: Literal["unload"] = "unload"


class StopFrame(Contract):
    kind: Literal["stop"] = "stop"
    id: int
    attempt: int
    reason: StopReason


class ReadyFrame(Contract):
    """The slot can take jobs."""

    kind: Literal["ready"] = "ready"
    pid: int


class EndedFrame(Contract):
    """An attempt has ended. ``journal``: name of the one that its report is in; None: in none.
    ``loaded``: the tool that stays loaded afterwards."""

    kind: Literal["ended"] = "ended"
    report: AttemptReport
    seconds: float
    journal: str | None
    loaded: LoadedTool | None = None


class UnloadedFrame(Contract):
    """No tool is loaded any more."""

    kind: Literal["unloaded"] = "unloaded"


ToSlot = TaskFrame | ForgetFrame | JobFrame | RenewFrame | StopFrame | UnloadFrame
FromSlot = ReadyFrame | EndedFrame | UnloadedFrame
to_slot: TypeAdapter[ToSlot] = TypeAdapter(Annotated[ToSlot, Field(discriminator="kind")])
from_slot: TypeAdapter[FromSlot] = TypeAdapter(Annotated[FromSlot, Field(discriminator="kind")])


def frame_bytes(frame: ToSlot | FromSlot) -> bytes:
    body = frame.model_dump_json().encode()
    return _LENGTH.pack(len(body)) + body


async def read_frame(reader: asyncio.StreamReader) -> bytes | None:
    """The next frame's JSON; None at the end."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        return await reader.readexactly(length)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None


class FrameReader:
    """The frames that come in over a connection, for one who has something else to do meanwhile."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._poll = select.poll()
        self._poll.register(connection, select.POLLIN)
        self._read = bytearray()

    def receive(self, meanwhile: Callable[[], float | None] = lambda: None) -> bytes | None:
        """The next frame's JSON, blocking; None at the end. ``meanwhile`` is called as long as
        there is none, again after as many seconds as it says."""
        while (frame := self._taken()) is None:
            seconds = meanwhile()
            if self._poll.poll(None if seconds is None else seconds * 1000):
                try:
                    data = self._connection.recv(1 << 20)
                except ConnectionError:
                    return None
                if not data:
                    return None
                self._read += data
        return frame

    def _taken(self) -> bytes | None:
        if len(self._read) < _LENGTH.size:
            return None
        end = _LENGTH.size + _LENGTH.unpack_from(self._read)[0]
        if len(self._read) < end:
            return None
        frame = bytes(self._read[_LENGTH.size : end])
        del self._read[:end]
        return frame
