"""A node's sandbox: namespaces that bubblewrap makes once, in which programs are started one after
the other, each with its own view."""

import glob
import os
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from os.path import isdir
from pathlib import Path
from typing import Literal

from pydantic import Field

from pilot.sandbox import channel
from pilot.sandbox.bubblewrap import MountKind, MountPoint, Namespaces
from pilot.sandbox.network import UserNetwork
from pilot.sandbox.process_limits import ProcessLimits
from pilot.sandbox.room import SOURCES
from sluice.contracts.base import Contract

#: Where device files of GPUs are, and what that of a single one is called.
_GPUS = ("/dev/nvidia*", "/dev/nvidia-caps/*")
_ONE_GPU = re.compile(r"/dev/nvidia\d+")
#: User and group of tools of a pilot that is root. What only root does they would try, such as
#: giving what they unpack to who made it, and there is nobody else in their namespace.
_NOBODY = 65534
_OURS = Path(channel.__file__).parent.parent
#: Is a pilot to have a sandbox for its tools?
SandboxUse = Literal["required", "preferred", "off"]


@dataclass(frozen=True, slots=True)
class Extras:
    """What a program gets beside its files. ``devices``: files of GPUs."""

    network: bool = False
    devices: tuple[str, ...] = ()


class RoomPath(Contract):
    """What each tool sees at ``path``, after what lies where jobs have files of their own:
    ``source``, a file or folder of the node's, to read. Without a source, nothing: it hides what
    would be visible there otherwise."""

    path: str
    source: str = ""


class Sandbox(Contract):
    """``bubblewrap``: its path. ``system``: what every program sees: of the node's files those that
    belong to the system, and what the kernel offers. ``processes``, ``open_files``: the most that a
    program may have of them, open files in each process. ``slots``: of the pilot, which share what
    the kernel counts for each user. ``network``: of tools that ask for one.
    Where none can be had, ``no_network`` says why, and they get the node's own if ``node_network``
    allows it. ``room_paths``: in the order in which they are put there. ``shown``: paths beside the
    system's that tools see. ``dropped``: what tools do not see of the search path, with the reason.
    """

    bubblewrap: str
    system: list[MountPoint]
    network: UserNetwork | None = None
    no_network: str = ""
    node_network: bool = False
    processes: int = 4096
    open_files: int = 16384
    slots: int = 1
    room_paths: list[RoomPath] = Field(default_factory=list)
    shown: list[str] = Field(default_factory=list)
    dropped: dict[str, str] = Field(default_factory=dict)

    @property
    def limits(self) -> ProcessLimits:
        return ProcessLimits(processes=self.processes, open_files=self.open_files, core=0)

    def namespaces(self, sources: Sequence[str], gets: Extras) -> Namespaces:
        """For their holder, with the folders ``sources`` in order in ``SOURCES``."""
        folders = {f"{SOURCES}/{number}": source for number, source in enumerate(sources)}
        return Namespaces(
            bubblewrap=self.bubblewrap,
            mounts=[
                *self.system,
                *(
                    MountPoint(kind=MountKind.DEVICE, path=path, source=path)
                    for path in gets.devices
                ),
                MountPoint(kind=MountKind.CLOSED, path="/dev"),
                MountPoint(kind=MountKind.MEMORY, path=SOURCES),
                MountPoint(kind=MountKind.READ, path=f"{SOURCES}/{_OURS.name}", source=str(_OURS)),
                *(
                    MountPoint(kind=MountKind.READ, path=inside, source=point.source)
                    for inside, point in self._room_sources()
                ),
                *(
                    MountPoint(kind=MountKind.WRITE, path=path, source=source)
                    for path, source in folders.items()
                ),
            ],
            user=_NOBODY if os.geteuid() == 0 else None,
            rights=True,
            nested=True,
            network=gets.network and self.network is None and self.node_network,
            first=True,
        )

    def room(self) -> list[list[str]]:
        """Return for each of the room's paths where the holder sees what is put there; empty: it
        is hidden."""
        inside = {point.path: source for source, point in self._room_sources()}
        return [[inside.get(point.path, ""), point.path] for point in self.room_paths]

    def _room_sources(self) -> list[tuple[str, RoomPath]]:
        shown = [point for point in self.room_paths if point.source]
        return [(f"{SOURCES}/system/{number}", point) for number, point in enumerate(shown)]


def gpu_devices(own: Collection[str]) -> tuple[str, ...]:
    """Device files for who has the GPUs with these files: theirs, and what NVIDIA's driver has for
    all of them."""
    if not own:
        return ()
    found = sorted(path for pattern in _GPUS for path in glob.glob(pattern) if not isdir(path))
    return tuple(path for path in found if path in own or not _ONE_GPU.fullmatch(path))
