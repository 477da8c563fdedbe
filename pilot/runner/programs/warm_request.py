"""Requests to a warm worker."""

import json
import os
import select
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from pilot.isolation.sandbox.process_limits import ProcessLimits
from pilot.isolation.sandbox.sandbox_instance import Usage
from pilot.runner.programs.memory import Memory
from pilot.runner.programs.program import Program
from pilot.runner.programs.running import RunningProgram
from pilot.runner.programs.usage import processor_time

#: Maximum bytes of an answer, which is read outside the tool's limits. Longer output belongs on the
#: tool's standard output.
_MAX_ANSWER = 4 << 20
_MAX_CHUNK = 1 << 16
#: Maximum characters of an invalid answer in a message.
_MAX_QUOTED = 200
#: Milliseconds to wait for the end of a program that has closed its output.
_ENDING = 500


class WarmWorkerProgram(Protocol):
    """A warm worker.

    ``pid`` is its own pid. The end of ``running`` ends all processes that it has started.
    """

    @property
    def pid(self) -> int:
        """Return the pid of the warm worker."""

    @property
    def running(self) -> RunningProgram:
        """Return the running program."""

    @property
    def ways(self) -> frozenset[str]:
        """Return names in its /tmp that have to stay there."""
        ...

    def show(self, inputs: Sequence[str]) -> bool:
        """Make files elsewhere visible, and return whether this is possible."""
        ...

    def pause(self) -> None:
        """Pause between two requests."""

    def resume(self) -> None:
        """Resume for a request."""

    def end(self) -> Usage:
        """End the warm worker, if necessary, and return its total resource usage."""
        ...

    def close(self) -> None:
        """End the warm worker and all processes that it has started, unless that is done."""


#: Starts a warm worker within limits.
StartWarmWorker = Callable[[Program, ProcessLimits], WarmWorkerProgram]


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer of a warm worker.

    Attributes:
        numbered: Whether it contains the number of the request.
    """

    exit_code: int
    output: str
    numbered: bool


@dataclass(frozen=True, slots=True)
class Pipes:
    """This side's ends of the pipes to a warm worker."""

    requests: int
    answers: int

    def close(self) -> None:
        """Close both pipes."""
        os.close(self.requests)
        os.close(self.answers)

    def is_quiet(self) -> bool:
        """Return whether the warm worker has written nothing since its last answer."""
        return not select.select([self.answers], [], [], 0)[0]


class WarmRequest:
    """A request to a warm worker as a ``RunningProgram``, which ends with the answer.

    ``start_cpu`` is the CPU time of the program before the request in seconds. ``expects_number``
    says that earlier answers had numbers, so an answer without a number is wrong.

    ``failure`` is why there is no answer, as the end of a sentence about the tool. It is empty if
    the end of the program explains it.
    """

    def __init__(
        self,
        program: WarmWorkerProgram,
        pipes: Pipes,
        message: dict[str, Any],
        memory: Memory,
        *,
        start_cpu: float,
        expects_number: bool = False,
    ) -> None:
        self._program = program
        self._pipes = pipes
        self._id = message["requestId"]
        self._unsent = memoryview(json.dumps(message).encode() + b"\n")
        self._expects_number = expects_number
        self._received = bytearray()
        self._memory = memory
        self._start_cpu = start_cpu
        self.answer: Answer | None = None
        self.failure = ""
        #: Memory of the program in MiB at the time of the answer.
        self.used = 0.0
        self._poll = select.epoll()
        self._poll.register(pipes.answers, select.EPOLLIN)
        self._poll.register(pipes.requests, select.EPOLLOUT)
        self._poll.register(program.running.descriptor, select.EPOLLIN)
        program.resume()

    @property
    def descriptor(self) -> int:
        """Return a descriptor that is readable when the program answers or ends."""
        return self._poll.fileno()

    @property
    def root(self) -> int:
        """Return the pid of the process whose descendants are the program's."""
        return self._program.running.root

    @property
    def baseline_memory(self) -> float:
        """Return the memory in MiB that the processes had before the program began."""
        return self._program.running.baseline_memory

    def has_ended(self) -> bool:
        """Continue the exchange and return whether the request has ended."""
        ready = {descriptor for descriptor, _ in self._poll.poll(0)}
        if self._pipes.requests in ready:
            self._send()
        has_ended = self._program.running.descriptor in ready
        if self._pipes.answers in ready and self._receive():
            has_ended = has_ended or (not self._received and self._ends_soon())
        elif not has_ended:
            return False
        if has_ended and self.answer is None:
            self.failure = ""  # The end of the program explains it.
        self.used = self._memory.used()
        return True

    def _ends_soon(self) -> bool:
        """Return whether a program that has closed its output ends shortly afterwards."""
        poll = select.poll()
        poll.register(self._program.running.descriptor, select.POLLIN)
        return bool(poll.poll(_ENDING))

    def signal(self, number: int) -> None:
        """Send a signal to the program."""
        self._program.running.signal(number)

    def kill(self) -> None:
        """Kill the program."""
        self._program.running.kill()

    def end(self) -> Usage:
        """End the request and return the resource usage.

        A program that has not answered is ended too.
        """
        self._poll.close()
        if self.answer is not None:
            self._program.pause()  # before its outputs are read
            cpu = max(0.0, processor_time(self._program.pid) - self._start_cpu)
            return Usage(status=(self.answer.exit_code & 0xFF) << 8, cpu=cpu, memory=0, floor=0)
        if self.failure:
            self._program.running.signal(signal.SIGKILL)
        usage = self._program.end()
        return Usage(usage.status, max(0.0, usage.cpu - self._start_cpu), usage.memory, usage.floor)

    def _send(self) -> None:
        with suppress(BlockingIOError, BrokenPipeError):  # the end of the program shows this
            self._unsent = self._unsent[os.write(self._pipes.requests, self._unsent) :]
            if self._unsent:
                return
        self._poll.unregister(self._pipes.requests)

    def _receive(self) -> bool:
        """Read from the program and return whether the request is finished."""
        try:
            chunk = os.read(self._pipes.answers, _MAX_CHUNK)
        except BlockingIOError:
            return False
        self._received += chunk
        if not chunk:
            self._received.clear()
            self.failure = "closed its standard output without an answer"
            return True
        if b"\n" not in chunk:
            if len(self._received) > _MAX_ANSWER:
                self.failure = f"wrote more than {_MAX_ANSWER >> 20} MiB without an answer"
            return bool(self.failure)
        line, _, rest = bytes(self._received).partition(b"\n")
        self._parse_answer(line)
        if rest and self.answer is not None:
            self.answer = None
            self.failure = f"wrote {_quote(rest)} after its answer"
        return True

    def _parse_answer(self, line: bytes) -> None:
        """Parse an answer.

        Missing fields are 0 or empty, as in the JSON format of Protocol Buffers.
        """
        try:
            answer = json.loads(line)
            code, number = answer.get("exitCode", 0), answer.get("requestId", 0)
            output = answer.get("output", "")
            if not (type(code) is type(number) is int and isinstance(output, str)):
                raise ValueError("another kind of value")
        except (ValueError, AttributeError, RecursionError):
            self.failure = f"wrote {_quote(line)} instead of an answer"
            return
        if number != self._id and (number or self._expects_number):
            request = f"request {number}" if number else "a request without its number"
            self.failure = f"answered {request} instead of request {self._id}"
            return
        self.answer = Answer(code, output, numbered=number != 0)


def _quote(data: bytes) -> str:
    text = data.decode(errors="replace").strip()
    return f'"{text[:_MAX_QUOTED]}{"…" if len(text) > _MAX_QUOTED else ""}"'
