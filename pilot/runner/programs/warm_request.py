"""A request to a program that stays: what runs until its answer is there."""

import json
import os
import select
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from pilot.runner.programs.memory import Memory
from pilot.runner.programs.program import Program
from pilot.runner.programs.running import Running
from pilot.runner.programs.usage import processor_time
from pilot.sandbox.held_sandbox import Usage
from pilot.sandbox.process_limits import ProcessLimits

#: Bytes of an answer, at most: it is read outside of the tool's limits. What is longer goes to the
#: tool's standard output.
_MOST_ANSWER = 4 << 20
_MOST_CHUNK = 1 << 16
#: Characters of what is no answer, in a sentence.
_SHOWN = 200
#: Milliseconds.
_ENDING = 500


class Lasting(Protocol):
    """A program that stays. ``pid``: its own; ``running``: with it ends all that it has started."""

    @property
    def pid(self) -> int: ...

    @property
    def running(self) -> Running: ...

    @property
    def ways(self) -> frozenset[str]:
        """Names in its /tmp that have to stay there."""
        ...

    def show(self, inputs: Sequence[str]) -> bool:
        """Files elsewhere that it sees from here on; False: it cannot."""
        ...

    def pause(self) -> None:
        """Between two requests."""

    def resume(self) -> None: ...

    def end(self) -> Usage:
        """Once it has ended, or to end it: how, and what it has used in all its time."""
        ...

    def close(self) -> None:
        """Ends it, with all that it has started, unless that has been done."""


#: Starts a program that stays, within limits.
StartLasting = Callable[[Program, ProcessLimits], Lasting]


@dataclass(frozen=True, slots=True)
class Answer:
    """``numbered``: it names its request."""

    exit_code: int
    output: str
    numbered: bool


@dataclass(frozen=True, slots=True)
class Pipes:
    """Of a program that stays: our ends."""

    requests: int
    answers: int

    def close(self) -> None:
        os.close(self.requests)
        os.close(self.answers)

    def is_quiet(self) -> bool:
        """Has it said nothing since its last answer?"""
        return not select.select([self.answers], [], [], 0)[0]


class WarmRequest:
    """As ``Running``: it has ended once the program has answered, or will not any more. ``begun``:
    the program's seconds of processor time before. ``numbers``: it has named its requests so far,
    so that an answer without is none to this one. ``trouble``: why there is no answer, the end of
    a sentence about the tool; empty where its end says it."""

    def __init__(
        self,
        program: Lasting,
        pipes: Pipes,
        message: dict[str, Any],
        memory: Memory,
        *,
        begun: float,
        numbers: bool = False,
    ) -> None:
        self._program = program
        self._pipes = pipes
        self._id = message["requestId"]
        self._left = memoryview(json.dumps(message).encode() + b"\n")
        self._numbers = numbers
        self._said = bytearray()
        self._memory = memory
        self._begun = begun
        self.answer: Answer | None = None
        self.trouble = ""
        #: MiB that the program has as it answers.
        self.used = 0.0
        self._poll = select.epoll()
        self._poll.register(pipes.answers, select.EPOLLIN)
        self._poll.register(pipes.requests, select.EPOLLOUT)
        self._poll.register(program.running.descriptor, select.EPOLLIN)
        program.resume()

    @property
    def descriptor(self) -> int:
        return self._poll.fileno()

    @property
    def root(self) -> int:
        return self._program.running.root

    @property
    def beside(self) -> float:
        return self._program.running.beside

    def has_ended(self) -> bool:
        ready = {descriptor for descriptor, _ in self._poll.poll(0)}
        if self._pipes.requests in ready:
            self._send()
        gone = self._program.running.descriptor in ready
        if self._pipes.answers in ready and self._listen():
            gone = gone or (not self._said and self._is_ending())
        elif not gone:
            return False
        if gone and self.answer is None:
            self.trouble = ""  # its end says it
        self.used = self._memory.used()
        return True

    def _is_ending(self) -> bool:
        """What a program writes to is closed shortly before its end is told."""
        poll = select.poll()
        poll.register(self._program.running.descriptor, select.POLLIN)
        return bool(poll.poll(_ENDING))

    def signal(self, number: int) -> None:
        self._program.running.signal(number)

    def kill(self) -> None:
        self._program.running.kill()

    def end(self) -> Usage:
        """Without an answer the program is ended."""
        self._poll.close()
        if self.answer is not None:
            self._program.pause()  # before anybody looks at what it has made
            cpu = max(0.0, processor_time(self._program.pid) - self._begun)
            return Usage(status=(self.answer.exit_code & 0xFF) << 8, cpu=cpu, memory=0, floor=0)
        if self.trouble:
            self._program.running.signal(signal.SIGKILL)
        usage = self._program.end()
        return Usage(usage.status, max(0.0, usage.cpu - self._begun), usage.memory, usage.floor)

    def _send(self) -> None:
        with suppress(BlockingIOError, BrokenPipeError):  # which its end tells
            self._left = self._left[os.write(self._pipes.requests, self._left) :]
            if self._left:
                return
        self._poll.unregister(self._pipes.requests)

    def _listen(self) -> bool:
        """Is there nothing more to be waited for?"""
        try:
            chunk = os.read(self._pipes.answers, _MOST_CHUNK)
        except BlockingIOError:
            return False
        self._said += chunk
        if not chunk:
            self._said.clear()
            self.trouble = "closed its standard output, and has not answered"
            return True
        if b"\n" not in chunk:
            if len(self._said) > _MOST_ANSWER:
                self.trouble = f"wrote more than {_MOST_ANSWER >> 20} MiB, and no answer"
            return bool(self.trouble)
        line, _, more = bytes(self._said).partition(b"\n")
        self._understand(line)
        if more and self.answer is not None:
            self.answer = None
            self.trouble = f"wrote {_shown(more)} behind its answer"
        return True

    def _understand(self, line: bytes) -> None:
        """What is left out is 0, or empty: so the protocol's numbers are written."""
        try:
            told = json.loads(line)
            code, number = told.get("exitCode", 0), told.get("requestId", 0)
            output = told.get("output", "")
            if not (type(code) is type(number) is int and isinstance(output, str)):
                raise ValueError("another kind of value")
        except (ValueError, AttributeError, RecursionError):
            self.trouble = f"wrote {_shown(line)} instead of an answer"
            return
        if number != self._id and (number or self._numbers):
            said = f"request {number}" if number else "no request by its number"
            self.trouble = f"answered {said}, and was asked {self._id}"
            return
        self.answer = Answer(code, output, numbered=number != 0)


def _shown(said: bytes) -> str:
    text = said.decode(errors="replace").strip()
    return f'"{text[:_SHOWN]}{"…" if len(text) > _SHOWN else ""}"'
