"""A sandbox with a holder process, in which programs are started one after the other."""

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

from pilot.isolation.sandbox.bare_python import bare_environment, bare_python
from pilot.isolation.sandbox.channel import Channel
from pilot.isolation.sandbox.process_limits import ProcessLimits
from pilot.isolation.sandbox.sandbox import Sandbox, SandboxOptions
from pilot.isolation.sandbox.seccomp import Filter, filter_program
from pilot.isolation.sandbox.tool_root import SOURCES
from pilot.isolation.sandbox.view import View, VisibleFile
from sluice.text.os_errors import reason_of

#: Number of source folders besides the initial ones. Beyond it, the holder forgets folders.
_MAX_SOURCES = 32
#: Seconds for a holder to end without a signal.
_PATIENCE = 5.0


class SandboxError(Exception):
    """The sandbox has failed to start a program. The program is not at fault.

    The message is a sentence.
    """


class Sandboxes:
    """The sandboxes of a process, one for each set of extras.

    ``sources`` are folders with files for programs.
    """

    def __init__(self, sandbox: Sandbox, sources: Sequence[str]) -> None:
        self.sandbox = sandbox
        self._sources = sources
        self._instances: dict[SandboxOptions, SandboxInstance] = {}

    @property
    def pids(self) -> frozenset[int]:
        """Return the children of this process that belong to the sandboxes."""
        return frozenset().union(*(instance.pids for instance in self._instances.values()))

    def get(self, options: SandboxOptions) -> "SandboxInstance":
        """Return the sandbox for programs with these extras."""
        if options not in self._instances:
            self._instances[options] = SandboxInstance(self.sandbox, self._sources, options)
        return self._instances[options]

    def close(self) -> None:
        """End all sandboxes."""
        for instance in self._instances.values():
            instance.close()


@dataclass(frozen=True, slots=True)
class Usage:
    """Exit status and resource usage of a program and its descendants.

    Attributes:
        status: The status as in wait(2).
        cpu: Seconds of CPU time.
        memory: The peak of its largest process in KiB.
        floor: Peaks up to this number say nothing.
        read: Bytes of I/O calls that read, or None.
        written: Bytes of I/O calls that write, or None.
    """

    status: int
    cpu: float
    memory: int
    floor: int
    read: int | None = None
    written: int | None = None


class SandboxInstance:
    """A sandbox whose holder starts when it is needed.

    ``sources`` are folders with files for programs. ``options`` are the extras of programs.
    """

    def __init__(self, sandbox: Sandbox, sources: Sequence[str], options: SandboxOptions) -> None:
        self._sandbox = sandbox
        self._options = options
        self._network_process: subprocess.Popen[bytes] | None = None
        self._own_sources = [os.path.realpath(source) for source in sources]
        self._sources = list(self._own_sources)
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Channel | None = None
        self._memory = 0.0

    @property
    def pids(self) -> frozenset[int]:
        """Return the children of this process that hold the sandbox."""
        processes = (self._process, self._network_process)
        return frozenset(process.pid for process in processes if process is not None)

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
    ) -> "SandboxedProgram":
        """Start a program. Only one program may run at a time.

        ``streams`` are descriptors of standard output and error. ``stdin`` is a path that is opened
        inside the sandbox, as a descriptor from outside could be used to write. If it is None, the
        first of ``streams`` is the standard input, a pipe.

        Raises:
            OSError: The program does not exist or is not executable.
            SandboxError: The sandbox has failed.
        """
        program = {
            "arguments": list(arguments),
            "environment": dict(environment),
            "folder": folder,
            "stdin": stdin,
        }
        new = self._process is None
        answer = self._request(program, self._build_tool_root_request(view, limits), streams)
        if "error" in answer and not new:
            # A folder may have been created again since the holder got it.
            self.close()
            answer = self._request(program, self._build_tool_root_request(view, limits), streams)
        match answer:
            case {"started": True}:
                process, connection = self._open()
                return SandboxedProgram(self, process.pid, connection, baseline_memory=self._memory)
            case {"program": number}:
                raise OSError(number, os.strerror(number), arguments[0])
        raise SandboxError(answer.get("error", "the process that holds it did not say why"))

    def _build_tool_root_request(self, view: View, limits: ProcessLimits) -> dict[str, Any]:
        """Return the request for a tool root, and make its files visible to the holder.

        Raises:
            SandboxError: A file does not exist.
        """
        self._make_visible([file.source for file in view.files])
        return {
            "limits": limits.as_numbers(),
            "files": [self._describe_file(file) for file in view.files],
            "system": self._sandbox.list_tool_root_paths(),
            "links": dict(view.links),
            "shared_memory": view.shared_memory,
            **({"changing": list(view.changing)} if view.changing else {}),
        }

    def _request(
        self, program: dict[str, Any], tool_root: dict[str, Any], streams: Sequence[int]
    ) -> dict[str, Any]:
        """Send a request and return the answer. The key ``error`` is the reason of a failure."""
        _, connection = self._open()
        try:
            connection.send({**program, "tool_root": tool_root}, streams)
            return connection.receive()[0]
        except (EOFError, OSError):
            message = self.close()
            return {"error": f"the process that holds it has ended{message and ': '}{message}"}

    def close(self) -> str:
        """End the holder and everything in the sandbox, and return its last message."""
        process, self._process = self._process, None
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
        network_process, self._network_process = self._network_process, None
        if network_process is not None:
            network_process.kill()
            network_process.communicate()
        if process is None:
            return ""
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
        lines = process.communicate()[1].decode(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else ""

    def leave_network(self) -> None:
        """End the sandbox if it has its own network.

        Otherwise answers to packets of one program could reach the next.
        """
        if self._network_process is not None:
            self.close()

    def _make_visible(self, paths: Sequence[str]) -> None:
        """Restart the holder with more folders if it does not see all of these files."""
        if self._process is None:
            # Folders of data sets may have been deleted.
            self._sources = [
                path for path in self._sources if path in self._own_sources or isdir(path)
            ]
        missing = dict.fromkeys(
            os.path.dirname(path) for path in paths if self.find_inside(path) is None
        )
        if missing:
            self.close()
            earlier = filter(isdir, self._sources[len(self._own_sources) :])
            retained = islice(earlier, max(0, _MAX_SOURCES - len(missing)))
            self._sources = [*self._own_sources, *missing, *retained]

    def _describe_file(self, file: VisibleFile) -> tuple[str | None, str, bool, int, int]:
        """Return the holder's path, the program's path, whether it is writable, device and inode.

        Device and inode tell whether another file has taken the place.
        """
        try:
            status = os.stat(file.source)
        except OSError as error:
            raise SandboxError(f"{file.source}: {reason_of(error)}") from error
        return self.find_inside(file.source), file.path, file.writable, status.st_dev, status.st_ino

    def find_inside(self, path: str) -> str | None:
        """Return the holder's path of a file of the node, or None."""
        for number, source in enumerate(self._sources):
            if path == source or path.startswith(f"{source.rstrip('/')}/"):
                return f"{SOURCES}/{number}/{path[len(source) :].lstrip('/')}"
        return None

    def _open(self) -> tuple["subprocess.Popen[bytes]", Channel]:
        """Return the holder and its connection, and start the holder if necessary.

        Raises:
            SandboxError: The holder could not be started.
        """
        if self._process is not None and self._connection is not None:
            return self._process, self._connection
        own_end, other_end = socket.socketpair()
        connection = Channel(own_end)
        with other_end:
            holder = bare_python(
                "pilot.isolation.sandbox.holder", other_end.fileno(), package_folder=SOURCES
            )
            try:
                process = self._sandbox.namespaces(self._sources, self._options).start(
                    holder,
                    streams=(subprocess.DEVNULL, subprocess.DEVNULL, subprocess.PIPE),
                    environment=bare_environment(),
                    descriptors=[other_end.fileno()],
                )
            except OSError as error:
                connection.close()
                raise SandboxError(f"{self._sandbox.bubblewrap}: {reason_of(error)}") from error
        self._process = process
        calls = filter_program(Filter.TOOL)
        try:
            connection.receive()  # bubblewrap has finished
            self._provide_network(process.pid)
            connection.send(
                {
                    "calls": None if calls is None else calls.hex(),
                    "limits": self._sandbox.limits.as_numbers(),
                    "slots": self._sandbox.slots,
                    "network": self._options.network,
                }
            )
            ready, _ = connection.receive()
        except (EOFError, OSError) as error:
            connection.close()
            raise SandboxError(self.close() or reason_of(error)) from error
        self._connection, self._memory = connection, ready["memory"] / 1024
        return process, connection

    def _provide_network(self, bubblewrap: int) -> None:
        """Start the network of the sandbox, if programs get one.

        Raises:
            OSError: There is no network, or it could not be started.
        """
        network = self._sandbox.network
        if not self._options.network or (network is None and self._sandbox.node_network):
            return
        if network is None:
            raise OSError(
                f"the tool asks for a network (NetworkAccess), and {self._sandbox.no_network}; fix"
                " this, or run the tool on a node with a network for tools"
            )
        self._network_process = network.start(_first_child(bubblewrap))


def _first_child(pid: int) -> int:
    """Return the pid of the first child of a process.

    Raises:
        OSError: The process has ended.
    """
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return int(file.read().split()[0])


class SandboxedProgram:
    """A program in a sandbox.

    ``root`` is the pid of the process that holds the sandbox. ``baseline_memory`` is the memory
    of the holder in MiB.
    """

    #: Not known before the end.
    used = 0.0

    def __init__(
        self, sandbox: SandboxInstance, root: int, connection: Channel, *, baseline_memory: float
    ) -> None:
        self.root = root
        self.baseline_memory = baseline_memory
        self._sandbox = sandbox
        self._connection = connection
        self._usage: dict[str, Any] | None = None

    @property
    def descriptor(self) -> int:
        """Return a descriptor that is readable once the program has ended."""
        return self._connection.fileno()

    def has_ended(self) -> bool:
        """Return True, as ``descriptor`` becomes readable only at the end."""
        return True

    def signal(self, number: int) -> None:
        """Send a signal to the process group, or SIGKILL to all processes of the program."""
        with contextlib.suppress(OSError):
            self._connection.send({"signal": number})

    def tell(self, message: dict[str, Any]) -> None:
        """Send a message that needs no answer."""
        with contextlib.suppress(OSError):
            self._connection.send(message)

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send a message and return the answer, which is empty if the program has ended."""
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
        """Kill the sandbox with the program and wait until it is dead.

        Any thread may call this.
        """
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.root, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitid(os.P_PID, self.root, os.WEXITED | os.WNOWAIT)

    def end(self) -> Usage:
        """Wait for the end of the program with all its processes and return the resource usage."""
        try:
            answer = self._usage or self._connection.receive()[0]
        except (EOFError, OSError):  # The holder was killed, and with it everything in the sandbox.
            self._sandbox.close()
            return Usage(status=signal.SIGKILL, cpu=0.0, memory=0, floor=0)
        self._sandbox.leave_network()
        return Usage(**answer)
