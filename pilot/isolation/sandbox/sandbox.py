"""The sandbox of a node.

bubblewrap creates its namespaces once. Programs are started in them one after the other, each with
its own view.
"""

import glob
import os
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from os.path import isdir
from pathlib import Path
from typing import Literal

from pydantic import Field

import pilot
from pilot.isolation.sandbox.bubblewrap import MountKind, MountPoint, Namespaces
from pilot.isolation.sandbox.network import UserNetwork
from pilot.isolation.sandbox.process_limits import ProcessLimits
from pilot.isolation.sandbox.tool_root import SOURCES
from sluice.contracts.common.base import Contract

#: Device files of GPUs, and the pattern for the file of a single GPU.
_GPUS = ("/dev/nvidia*", "/dev/nvidia-caps/*")
_ONE_GPU = re.compile(r"/dev/nvidia\d+")
#: User and group of tools if the pilot runs as root. As root, tools would try things such as
#: restoring owners of unpacked files, which do not exist in their namespace.
_NOBODY = 65534
#: The folder of the package, whose modules run in the sandbox, too.
_PACKAGE_FOLDER = Path(pilot.__file__).parent
#: Whether a pilot needs a sandbox for its tools.
SandboxUse = Literal["required", "preferred", "off"]


@dataclass(frozen=True, slots=True)
class SandboxOptions:
    """The options of a sandbox besides the files.

    Attributes:
        devices: Device files of GPUs.
    """

    network: bool = False
    devices: tuple[str, ...] = ()


class ToolRootPath(Contract):
    """A path that is mounted for each tool after the job's own folders.

    Attributes:
        source: A file or folder of the node to read. Without a source, the path is hidden.
    """

    path: str
    source: str = ""


class Sandbox(Contract):
    """The sandbox of a node.

    Attributes:
        bubblewrap: Its path.
        system: What each program sees of the node's system and the kernel.
        network: Network of tools that request one.
        no_network: Why there is no network.
        node_network: Whether tools get the node's network if there is no other.
        processes: The most processes of a program.
        open_files: The most open files of each process.
        slots: Number of slots, which share the kernel's limits for each user.
        tool_root_paths: Paths mounted for each tool, in order.
        shown: Visible paths besides the system's.
        dropped: Paths of the search path that tools do not see, with reasons.
    """

    bubblewrap: str
    system: list[MountPoint]
    network: UserNetwork | None = None
    no_network: str = ""
    node_network: bool = False
    processes: int = 4096
    open_files: int = 16384
    slots: int = 1
    tool_root_paths: list[ToolRootPath] = Field(default_factory=list)
    shown: list[str] = Field(default_factory=list)
    dropped: dict[str, str] = Field(default_factory=dict)

    @property
    def limits(self) -> ProcessLimits:
        """Return the limits of each process."""
        return ProcessLimits(processes=self.processes, open_files=self.open_files, core=0)

    def namespaces(self, sources: Sequence[str], options: SandboxOptions) -> Namespaces:
        """Return the namespaces of the holder.

        The folders ``sources`` are mounted in order in ``SOURCES``.
        """
        folders = {f"{SOURCES}/{number}": source for number, source in enumerate(sources)}
        return Namespaces(
            bubblewrap=self.bubblewrap,
            mounts=[
                *self.system,
                *(
                    MountPoint(kind=MountKind.DEVICE, path=path, source=path)
                    for path in options.devices
                ),
                MountPoint(kind=MountKind.CLOSED, path="/dev"),
                MountPoint(kind=MountKind.MEMORY, path=SOURCES),
                MountPoint(
                    kind=MountKind.READ,
                    path=f"{SOURCES}/{_PACKAGE_FOLDER.name}",
                    source=str(_PACKAGE_FOLDER),
                ),
                *(
                    MountPoint(kind=MountKind.READ, path=inside, source=point.source)
                    for inside, point in self._list_tool_root_sources()
                ),
                *(
                    MountPoint(kind=MountKind.WRITE, path=path, source=source)
                    for path, source in folders.items()
                ),
            ],
            user=_NOBODY if os.geteuid() == 0 else None,
            rights=True,
            nested=True,
            network=options.network and self.network is None and self.node_network,
            first=True,
        )

    def list_tool_root_paths(self) -> list[list[str]]:
        """Return the holder's path and the place of each path in ``tool_root_paths``.

        If the holder's path is empty, the place is hidden.
        """
        sources = {point.path: source for source, point in self._list_tool_root_sources()}
        return [[sources.get(point.path, ""), point.path] for point in self.tool_root_paths]

    def _list_tool_root_sources(self) -> list[tuple[str, ToolRootPath]]:
        visible_points = [point for point in self.tool_root_paths if point.source]
        return [
            (f"{SOURCES}/system/{number}", point) for number, point in enumerate(visible_points)
        ]


def list_gpu_devices(own_devices: Collection[str]) -> tuple[str, ...]:
    """Return the device files for a program with the GPUs of these files.

    They include the files that NVIDIA's driver has for all GPUs.
    """
    if not own_devices:
        return ()
    paths = sorted(path for pattern in _GPUS for path in glob.glob(pattern) if not isdir(path))
    return tuple(path for path in paths if path in own_devices or not _ONE_GPU.fullmatch(path))
