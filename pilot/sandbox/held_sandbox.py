"""A sandbox that a process holds: in it, programs are started one after the other."""

import contextlib
import os
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from os.path import isdir
from typing import Any

from pilot.sandbox.bare_python import bare_environment, bare_python
from pilot.sandbox.channel import Channel
from pilot.sandbox.process_limits import ProcessLimits
from pilot.sandbox.room import SOURCES
from pilot.sandbox.sandbox import Extras, Sandbox
from pilot.sandbox.seccomp import Filter, filter_program
from pilot.sandbox.view import SeenFile, View

#: Folders, beside those it is made with, from which a holder gives files; with one more, others are
#: forgotten.
_MOST_SOURCES = 32
#: Seconds within which a holder ends by itself.
_PATIENCE = 5.0


class SandboxError(Exception):
    """A program could not be started in its sandbox, for a reason that has nothing to do with the
    program: a sentence."""


class Sandboxes:
    """A node's sandbox as a process holds it: once for programs of each kind, as they come.
    ``sources``: folders from which they get files."""

    def __init__(self, sandbox: Sandbox, sources: Sequence[str]) -> None:
        self.sandbox = sandbox
        self._sources = sources
        self._held: dict[Extras, HeldSandbox] = {}

    @property
    def pids(self) -> frozenset[int]:
        """Of this process's children that belong to them."""
        return frozenset().union(*(held.pids for held in self._held.values()))

    def of(self, gets: Extras) -> "HeldSandbox":
        if gets not in self._held:
            self._held[gets] = HeldSandbox(self.sandbox, self._sources, gets)
        return self._held[gets]

    def close(self) -> None:
        for held in self._held.values():
            held.close()


@dataclass(frozen=True, slots=True)
class Usage:
    """How a program ended, and what it and all that it started has used. ``status``: as wait(2)
    gives it. ``cpu``: seconds. ``memory``: KiB of its largest process; ``floor``: at or below it,
    it says nothing. ``read``, ``written``: bytes that it asked the kernel for, or handed to it;
    None: not counted."""

    status: int
    cpu: float
    memory: int
    floor: int
    read: int | None = None
    written: int | None = None


class HeldSandbox:
    """A sandbox with its holder, which is started when there is something to run. ``sources``:
    folders from which programs get files. ``gets``: what programs get beside."""

    def __init__(self, sandbox: Sandbox, sources: Sequence[str], gets: Extras) -> None:
        self._sandbox = sandbox
        self._gets = gets
        self._carrier: subprocess.Popen[bytes] | None = None
        self._own = [os.path.realpath(source) for source in sources]
        self._sources = list(self._own)
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Channel | None = None
        self._memory = 0.0

    @property
    def pids(self) -> frozenset[int]:
        """Of this process's children that hold the sandbox."""
        known = (self._process, self._carrier)
        return frozenset(process.pid for process in known if process is not None)

    def start(
        self,
        arguments: Sequence[str],
        *,
        environment: Mapping[str, str],
        folder: str,
        streams: Sequence[int],
        limits: ProcessLimits,
        view: View,
        stdin: str | None = os.devnull,
    ) -> "Contained":
        """``streams``: descriptors of standard output and error. ``stdin``: path of its standard
        input, which is opened where the program sees it: what is opened outside could be written
        to through its descriptor. (None: the first of ``streams``, a pipe.) One at a time. Raises
        ``OSError`` where there is no such program, ``SandboxError``."""
        program = {
            "arguments": list(arguments),
            "environment": dict(environment),
            "folder": folder,
            "stdin": stdin,
        }
        new = self._process is None
        answer = self._asked(program, self._room(view, limits), streams)
        if "room" in answer and not new:
            # A folder may have been made anew since the holder got to see it.
            self.close()
            answer = self._asked(program, self._room(view, limits), streams)
        match answer:
            case {"started": True}:
                process, connection = self._opened()
                return Contained(self, process.pid, connection, beside=self._memory)
            case {"program": number}:
                raise OSError(number, os.strerror(number), arguments[0])
        raise SandboxError(answer.get("room", "the process that holds it did not say why"))

    def _room(self, view: View, limits: ProcessLimits) -> dict[str, Any]:
        """What is asked of the holder, which can see the files from here on. Raises
        ``SandboxError``."""
        self._make_visible([seen.source for seen in view.files])
        return {
            "limits": limits.as_numbers(),
            "files": [self._file(seen) for seen in view.files],
            "system": self._sandbox.room(),
            "links": dict(view.links),
            "shared_memory": view.shared_memory,
            **({"changing": list(view.changing)} if view.changing else {}),
        }

    def _asked(
        self, program: dict[str, Any], room: dict[str, Any], streams: Sequence[int]
    ) -> dict[str, Any]:
        """The holder's answer; ``room``: why it could not do it."""
        _, connection = self._opened()
        try:
            connection.send({**program, "room": room}, streams)
            return connection.receive()[0]
        except (EOFError, OSError):
            said = self.close()
            return {"room": f"the process that holds it has ended{said and ': '}{said}"}

    def close(self) -> str:
        """Ends it, with all that runs in it. Gives what it has said last, if anything."""
        process, self._process = self._process, None
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
        carrier, self._carrier = self._carrier, None
        if carrier is not None:
            carrier.kill()
            carrier.communicate()
        if process is None:
            return ""
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
        said = process.communicate()[1].decode(errors="replace").strip().splitlines()
        return said[-1][:300] if said else ""

    def leave_network(self) -> None:
        """Ends it where it has a network of its own: answers to what a program has sent would come
        to the next one."""
        if self._carrier is not None:
            self.close()

    def _make_visible(self, paths: Sequence[str]) -> None:
        """Where the holder does not see all of these files, it starts anew, with the folders that
        they lie in."""
        if self._process is None:
            # Folders of data sets go with these.
            self._sources = [path for path in self._sources if path in self._own or isdir(path)]
        missing = dict.fromkeys(
            os.path.dirname(path) for path in paths if self.inside(path) is None
        )
        if missing:
            self.close()
            earlier = filter(isdir, self._sources[len(self._own) :])
            kept = islice(earlier, max(0, _MOST_SOURCES - len(missing)))
            self._sources = [*self._own, *missing, *kept]

    def _file(self, seen: SeenFile) -> tuple[str | None, str, bool, int, int]:
        """Where the holder has it from, where it is seen, whether it can be written, and which one
        it is: what is seen already may have got another in its place."""
        try:
            found = os.stat(seen.source)
        except OSError as error:
            raise SandboxError(f"{seen.source}: {error.strerror}") from error
        return self.inside(seen.source), seen.path, seen.writable, found.st_dev, found.st_ino

    def inside(self, path: str) -> str | None:
        """Where the holder sees a file of the node; None: it does not."""
        for number, source in enumerate(self._sources):
            if path == source or path.startswith(f"{source.rstrip('/')}/"):
                return f"{SOURCES}/{number}/{path[len(source) :].lstrip('/')}"
        return None

    def _opened(self) -> tuple["subprocess.Popen[bytes]", Channel]:
        """Raises ``SandboxError``."""
        if self._process is not None and self._connection is not None:
            return self._process, self._connection
        ours, theirs = socket.socketpair()
        connection = Channel(ours)
        with theirs:
            holder = bare_python("pilot.sandbox.holder", theirs.fileno(), found_in=SOURCES)
            try:
                process = self._sandbox.namespaces(self._sources, self._gets).start(
                    holder,
                    streams=(subprocess.DEVNULL, subprocess.DEVNULL, subprocess.PIPE),
                    environment=bare_environment(),
                    descriptors=[theirs.fileno()],
                )
            except OSError as error:
                connection.close()
                raise SandboxError(f"{self._sandbox.bubblewrap}: {error.strerror}") from error
        self._process = process
        calls = filter_program(Filter.TOOL)
        try:
            connection.receive()  # bubblewrap is done
            self._give_network(process.pid)
            connection.send(
                {
                    "calls": None if calls is None else calls.hex(),
                    "limits": self._sandbox.limits.as_numbers(),
                    "slots": self._sandbox.slots,
                    "network": self._gets.network,
                }
            )
            ready, _ = connection.receive()
        except (EOFError, OSError) as error:
            connection.close()
            raise SandboxError(self.close() or str(error)) from error
        self._connection, self._memory = connection, ready["memory"] / 1024
        return process, connection

    def _give_network(self, bubblewrap: int) -> None:
        """Raises ``OSError``."""
        network = self._sandbox.network
        if not self._gets.network or (network is None and self._sandbox.node_network):
            return
        if network is None:
            raise OSError(
                f"the tool asks for a network (NetworkAccess), and {self._sandbox.no_network}; see"
                " to that, or let it run where there is one"
            )
        self._carrier = network.start(_first_child(bubblewrap))


def _first_child(pid: int) -> int:
    """Raises ``OSError``."""
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return int(file.read().split()[0])


class Contained:
    """A program in a sandbox. ``root``: pid of the process that holds the sandbox; ``beside``:
    MiB of memory that this takes."""

    #: Its end says more.
    used = 0.0

    def __init__(
        self, sandbox: HeldSandbox, root: int, connection: Channel, *, beside: float
    ) -> None:
        self.root = root
        self.beside = beside
        self._sandbox = sandbox
        self._connection = connection
        self._usage: dict[str, Any] | None = None

    @property
    def descriptor(self) -> int:
        """Readable once it has ended."""
        return self._connection.fileno()

    def has_ended(self) -> bool:
        return True

    def signal(self, number: int) -> None:
        """To its process group; SIGKILL to all of its processes."""
        with contextlib.suppress(OSError):
            self._connection.send({"signal": number})

    def tell(self, message: dict[str, Any]) -> None:
        """Something else than a signal."""
        with contextlib.suppress(OSError):
            self._connection.send(message)

    def asked(self, message: dict[str, Any]) -> dict[str, Any]:
        """The answer, of a program that runs; where it has ended, an empty one."""
        try:
            self._connection.send(message)
            answer, _ = self._connection.receive()
        except (EOFError, OSError):
            return {}
        if "status" in answer:
            self._usage = answer
            return {}
        return answer

    def kill(self) -> None:
        """At once, with the sandbox, from any thread, which waits until that is dead."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.root, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitid(os.P_PID, self.root, os.WEXITED | os.WNOWAIT)

    def end(self) -> Usage:
        """Waits for its end. Nothing of it is left then."""
        try:
            answer = self._usage or self._connection.receive()[0]
        except (EOFError, OSError):  # what holds the sandbox was killed, and all with it
            self._sandbox.close()
            return Usage(status=signal.SIGKILL, cpu=0.0, memory=0, floor=0)
        self._sandbox.leave_network()
        return Usage(**answer)
