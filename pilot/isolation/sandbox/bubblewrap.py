"""Use of bubblewrap, which starts a program in namespaces with the given files and rights only."""

import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

from pydantic import Field

from pilot.isolation.sandbox.seccomp import Filter, filter_program
from sluice.contracts.common.base import Contract


class MountKind(StrEnum):
    """The kind of object that is visible at a path.

    The values are names of bubblewrap's options.
    """

    READ = "ro-bind"  # a file or folder of the node, read-only
    WRITE = "bind"  # a file or folder of the node, to read and write
    LINK = "symlink"
    FOLDER = "dir"  # an empty folder
    MEMORY = "tmpfs"  # an empty file system in memory
    DEVICES = "dev"  # the devices that all programs have: null, urandom, terminals …
    DEVICE = "dev-bind"  # a device of the node, whose owner can change it: see ``protect_devices``
    PROCESSES = "proc"  # /proc of the namespaces
    CLOSED = "remount-ro"  # what is mounted there already, read-only from now on


class MountPoint(Contract):
    """A mount point.

    Attributes:
        source: The path of the node's file, or the target of the link.
    """

    kind: MountKind
    path: str
    source: str = ""

    def options(self) -> list[str]:
        """Return bubblewrap's options for it."""
        return [f"--{self.kind}", *filter(None, [self.source]), self.path]


def mount_read_only(paths: Iterable[str]) -> list[MountPoint]:
    """Return mount points that show paths read-only at their own places.

    Links stay links.
    """
    return [
        MountPoint(kind=MountKind.LINK, path=path, source=os.readlink(path))
        if os.path.islink(path)
        else MountPoint(kind=MountKind.READ, path=path, source=path)
        for path in sorted(set(paths))
    ]


class Namespaces(Contract):
    """Namespaces that bubblewrap creates for a program.

    Attributes:
        bubblewrap: Its path.
        mounts: What the program sees, in the order of mounting.
        user: Uid and gid of the program. None keeps those of this process.
        rights: Whether the program has all capabilities in its namespaces. Otherwise it has none.
        nested: Whether the program may create further user namespaces, as far as the kernel allows
            it.
        network: Whether it has the node's network. Otherwise it has a loopback only.
        first: Whether the program is process 1 of its namespace. Otherwise bubblewrap is.
        calls: Filter for system calls, or None.
        limits: Resource limits of each process by the names of prlimit(1).
    """

    bubblewrap: str
    mounts: list[MountPoint]
    user: int | None = None
    rights: bool = False
    nested: bool = False
    network: bool = False
    first: bool = False
    calls: Filter | None = None
    limits: dict[str, int] = Field(default_factory=dict)

    def start(
        self,
        program: Sequence[str],
        *,
        streams: tuple[int, int, int],
        environment: Mapping[str, str] | None = None,
        descriptors: Sequence[int] = (),
    ) -> "subprocess.Popen[bytes]":
        """Start a program and return bubblewrap's process.

        All processes end with it, and it ends with this process. ``streams`` are standard input,
        output and error as in ``subprocess``. ``environment`` is the whole environment.
        ``descriptors`` are further descriptors for the program.

        Raises:
            OSError: bubblewrap could not be started.
        """
        calls = self._open_filter()
        try:
            return subprocess.Popen(
                [
                    *build_limit_prefix(self.limits),
                    self.bubblewrap,
                    *self._build_options(),
                    *(part for descriptor in calls for part in ("--seccomp", str(descriptor))),
                    "--",
                    *program,
                ],
                stdin=streams[0],
                stdout=streams[1],
                stderr=streams[2],
                pass_fds=[*descriptors, *calls],
                env={} if environment is None else environment,
                cwd="/",
                bufsize=0,
            )
        finally:
            for descriptor in calls:
                os.close(descriptor)

    def _build_options(self) -> Iterator[str]:
        yield from ("--unshare-all", "--unshare-user", "--die-with-parent", "--new-session")
        yield from ("--cap-add" if self.rights else "--cap-drop", "ALL")
        if self.user is not None:
            yield from ("--uid", str(self.user), "--gid", str(self.user))
        if not self.nested:
            yield "--disable-userns"
        if self.network:
            yield "--share-net"
        if self.first:
            yield "--as-pid-1"
        for mount in self.mounts:
            yield from mount.options()

    def _open_filter(self) -> list[int]:
        """Return a descriptor with the filter for system calls.

        The list is empty if there is no filter for this architecture.
        """
        program = None if self.calls is None else filter_program(self.calls)
        if program is None:
            return []
        descriptor = os.memfd_create("filter")
        os.write(descriptor, program)
        os.lseek(descriptor, 0, os.SEEK_SET)
        return [descriptor]


def build_limit_prefix(limits: Mapping[str, int]) -> list[str]:
    """Return a command prefix that sets resource limits by the names of prlimit(1)."""
    options = [f"--{name}={value}" for name, value in limits.items()]
    return ["prlimit", *options, "--"] if options else []
