"""bubblewrap: starts a program in namespaces of its own, where it sees, has and may do what is said
here, and nothing else."""

import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

from pydantic import Field

from pilot.sandbox.seccomp import Filter, filter_program
from sluice.contracts.base import Contract


class MountKind(StrEnum):
    """What is seen at a path; the values are names of bubblewrap's options."""

    READ = "ro-bind"  #: a file or folder of the node's, to read
    WRITE = "bind"  #: a file or folder of the node's, to read and write
    LINK = "symlink"
    FOLDER = "dir"  #: an empty one
    MEMORY = "tmpfs"  #: an empty file system in memory
    DEVICES = "dev"  #: those that all programs have: null, urandom, terminals …
    DEVICE = "dev-bind"  #: one of the node's; who owns it there can change it: see ``keep_devices``
    PROCESSES = "proc"  #: what the kernel tells about the namespaces' processes
    CLOSED = "remount-ro"  #: what is mounted there already, from here on only to read


class MountPoint(Contract):
    """``source``: path of the node's file, or where the link leads to."""

    kind: MountKind
    path: str
    source: str = ""

    def options(self) -> list[str]:
        return [f"--{self.kind}", *filter(None, [self.source]), self.path]


def to_read(paths: Iterable[str]) -> list[MountPoint]:
    """Where they are on the node. Links stay links."""
    return [
        MountPoint(kind=MountKind.LINK, path=path, source=os.readlink(path))
        if os.path.islink(path)
        else MountPoint(kind=MountKind.READ, path=path, source=path)
        for path in sorted(set(paths))
    ]


class Namespaces(Contract):
    """What bubblewrap makes for a program. ``bubblewrap``: its path. ``mounts``: what the program
    sees, in the order in which it is put there. ``user``: number of its user and group; None: as
    outside. ``rights``: it has all over its namespaces, else none. ``nested``: it may make others
    in them, as far as the kernel lets it. ``network``: the node's, else a loopback alone.
    ``first``: it is their first process, else bubblewrap is. ``calls``: what it may ask of the
    kernel; None: anything. ``limits``: of resources of each process, as prlimit(1) names them."""

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
        """bubblewrap's process, with which all others end, as they do when this process ends.
        ``streams``: standard input, output and error, as ``subprocess`` has them. ``environment``:
        all of it. ``descriptors``: what the program gets beside. Raises ``OSError``."""
        calls = self._filter()
        try:
            return subprocess.Popen(
                [
                    *limited(self.limits),
                    self.bubblewrap,
                    *self._options(),
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

    def _options(self) -> Iterator[str]:
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

    def _filter(self) -> list[int]:
        """A descriptor to read it from; none where there is none for this kind of processor."""
        program = None if self.calls is None else filter_program(self.calls)
        if program is None:
            return []
        descriptor = os.memfd_create("filter")
        os.write(descriptor, program)
        os.lseek(descriptor, 0, os.SEEK_SET)
        return [descriptor]


def limited(limits: Mapping[str, int]) -> list[str]:
    """What stands before a command to give it limits of resources, as prlimit(1) names them."""
    options = [f"--{name}={most}" for name, most in limits.items()]
    return ["prlimit", *options, "--"] if options else []
