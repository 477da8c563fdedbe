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
from pilot.isolation.node.memory_groups import ControlGroupSettings
from pilot.isolation.sandbox.sandbox import Sandbox
from pilot.isolation.users.slot_user import SlotUser
from pilot.node.engines import Engine
from sluice.contracts.access.secrets import SecretContract, SecretText
from sluice.contracts.common.base import Contract
from sluice.contracts.jobs.warm_workers import WarmWorkerState
from sluice.contracts.pilots.leases import LeasedJob, PilotTask
from sluice.contracts.pilots.reports import AttemptReport

_LENGTH = struct.Struct(">I")
#: The number of a slot, which is sent with its connection.
SLOT_NUMBER = struct.Struct(">H")


class RunnerSettings(Contract):
    """Settings that a slot needs from its pilot.

    Attributes:
        grace: Seconds between SIGTERM and SIGKILL.
        memory_factor: A job may use this many times the memory that it requested.
        memory_floor: MiB that a job with a request may use at least.
        memory_unasked: MiB that a job without a request may use. 0 means that there is no limit.
        log_limit: Bytes kept of each of a tool's two streams.
        live_logs: Seconds between two live logs of a running tool. 0 disables them.
        checkpoint_limit: Bytes of all files of a checkpoint. 0 disables checkpoints.
        sandbox_required: JavaScript does not run outside bubblewrap.
        expression_limit: Seconds for each expression.
        engine: The container engine.
        images: The folder that the container engine needs.
        assets: The folder for files of assets.
        asset_cache: Its size in bytes. 0 disables it.
        memory_groups: Control groups for the tools of each slot.
        sandbox: The sandbox of tools.
        no_sandbox: Why there is no sandbox.
        users: The user of each slot, if tools run as users.
        gpus: Paths of the node's GPU device files by uuid.
    """

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
    memory_groups: ControlGroupSettings | None = None
    sandbox: Sandbox | None = None
    no_sandbox: str = ""
    users: list[SlotUser] = Field(default_factory=list)
    gpus: dict[str, str] = Field(default_factory=dict)


class TaskFrame(Contract):
    """Describes a task to the slot."""

    kind: Literal["task"] = "task"
    task: PilotTask


class ForgetFrame(Contract):
    """Lets the slot forget a task."""

    kind: Literal["forget"] = "forget"
    uid: UUID


class JobFrame(SecretContract):
    """Gives a job to the slot.

    Attributes:
        secrets: Values by port of the tool.
        trouble: Why required secrets are missing.
        stop: The reason of a stop that preceded the job.
        gpus: The uuids of GPUs that the job may use.
        deadline: The deadline as in ``RenewFrame``, or None.
    """

    kind: Literal["job"] = "job"
    job: LeasedJob
    secrets: dict[str, SecretText] = Field(default_factory=dict)
    trouble: str = ""
    stop: StopReason | None = None
    gpus: list[str] = Field(default_factory=list)
    deadline: float | None = None


class RenewFrame(Contract):
    """Renews the deadline of an attempt.

    Attributes:
        deadline: The boot time (``pilot.boot_clock``) at which the slot stops the attempt by
            itself, even if the pilot hangs.
    """

    kind: Literal["renew"] = "renew"
    id: int
    attempt: int
    deadline: float


class UnloadFrame(Contract):
    """Ends the warm worker, unless a job of its kind has already arrived."""

    kind: Literal["unload"] = "unload"


class StopFrame(Contract):
    """Stops an attempt."""

    kind: Literal["stop"] = "stop"
    id: int
    attempt: int
    reason: StopReason


class ReadyFrame(Contract):
    """The slot can take jobs."""

    kind: Literal["ready"] = "ready"
    pid: int


class EndedFrame(Contract):
    """An attempt has ended.

    Attributes:
        journal: The name of the journal with its report, or None.
        loaded: The warm worker that stays.
    """

    kind: Literal["ended"] = "ended"
    report: AttemptReport
    seconds: float
    journal: str | None
    loaded: WarmWorkerState | None = None


class UnloadedFrame(Contract):
    """The slot no longer has a warm worker."""

    kind: Literal["unloaded"] = "unloaded"


ToSlot = TaskFrame | ForgetFrame | JobFrame | RenewFrame | StopFrame | UnloadFrame
FromSlot = ReadyFrame | EndedFrame | UnloadedFrame
to_slot: TypeAdapter[ToSlot] = TypeAdapter(Annotated[ToSlot, Field(discriminator="kind")])
from_slot: TypeAdapter[FromSlot] = TypeAdapter(Annotated[FromSlot, Field(discriminator="kind")])


def encode_frame(frame: ToSlot | FromSlot) -> bytes:
    """Return the bytes of a frame for the connection."""
    body = frame.model_dump_json().encode()
    return _LENGTH.pack(len(body)) + body


async def read_frame(reader: asyncio.StreamReader) -> bytes | None:
    """Return the JSON of the next frame, or None at the end."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        return await reader.readexactly(length)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None


class FrameReader:
    """Reads frames from a connection and does other work between them."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._poll = select.poll()
        self._poll.register(connection, select.POLLIN)
        self._buffer = bytearray()

    def receive(self, meanwhile: Callable[[], float | None] = lambda: None) -> bytes | None:
        """Wait for the next frame and return its JSON, or None at the end.

        ``meanwhile`` is called while there is none, and again after the seconds that it returns.
        """
        while (frame := self._pop_frame()) is None:
            seconds = meanwhile()
            if self._poll.poll(None if seconds is None else seconds * 1000):
                try:
                    data = self._connection.recv(1 << 20)
                except ConnectionError:
                    return None
                if not data:
                    return None
                self._buffer += data
        return frame

    def _pop_frame(self) -> bytes | None:
        if len(self._buffer) < _LENGTH.size:
            return None
        end = _LENGTH.size + _LENGTH.unpack_from(self._buffer)[0]
        if len(self._buffer) < end:
            return None
        frame = bytes(self._buffer[_LENGTH.size : end])
        del self._buffer[:end]
        return frame
