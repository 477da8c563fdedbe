"""The end of a command by a signal: SIGTERM, or SIGHUP when its terminal is gone."""

import asyncio
import os
import signal
import sys
import termios
from collections.abc import Coroutine
from contextlib import suppress
from errno import EIO
from typing import Any, TypeVar, cast

ResultT = TypeVar("ResultT")

#: The exit status of a program that a signal ended is this plus the signal's number, in shells.
SIGNAL_STATUS = 128


class Terminated(SystemExit):
    """A signal asked the command to end. The exit status is the one that shells expect.

    ``consequence`` says what happens to the command's work. The code that knows it sets it.
    """

    def __init__(self, number: int) -> None:
        super().__init__(SIGNAL_STATUS + number)
        self.signal = signal.Signals(number)
        self.consequence = ""

    def __str__(self) -> str:
        """Say what ended the command, and what happens to its work."""
        return f"ended by {self.signal.name}{self.consequence and f': {self.consequence}'}"


_received_signals: list[int] = []
#: The main task of ``run_until_terminated``.
_main_tasks: list[asyncio.Task[Any]] = []


def is_terminated() -> bool:
    """Return whether a signal has asked this process to end."""
    return bool(_received_signals)


def raise_at_termination() -> None:
    """Raise ``Terminated`` in the main thread at the first SIGTERM or SIGHUP.

    A second SIGTERM ends the process at once. A SIGHUP that is ignored stays ignored (``nohup``).
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _terminate)


def _terminate(number: int, frame: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    _received_signals.append(number)
    _leave_lost_terminal()
    if not _main_tasks:
        raise Terminated(number)
    _main_tasks[-1].get_loop().call_soon_threadsafe(_main_tasks[-1].cancel)


def run_until_terminated(main: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Run a coroutine in its own event loop, and cancel it at SIGTERM and SIGHUP.

    An exception between any two steps, as outside a loop, would leave other tasks unfinished.

    Raises:
        Terminated: A signal canceled it.
    """

    async def run() -> ResultT:
        task = cast("asyncio.Task[Any]", asyncio.current_task())
        _main_tasks.append(task)
        try:
            return await main
        finally:
            _main_tasks.remove(task)

    try:
        return asyncio.run(run())
    except asyncio.CancelledError:
        if _received_signals:
            raise Terminated(_received_signals[0]) from None
        raise


async def complete(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Await work to its end, even if the caller is canceled meanwhile, which is raised afterwards.

    A second cancellation ends the work.
    """
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if not task.cancelled():
            await asyncio.gather(task, return_exceptions=True)
        raise


def _leave_lost_terminal() -> None:
    """Redirect output to a terminal that is gone to nowhere, because each write would fail."""
    for descriptor in (1, 2):
        try:
            termios.tcgetattr(descriptor)
        except termios.error as error:
            if error.args[0] == EIO:
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, descriptor)
                os.close(nowhere)


def print_termination(termination: Terminated, *, program: str = "") -> None:
    """Print the line about an end by a signal to standard error."""
    with suppress(OSError):
        print(f"{program}{termination}", file=sys.stderr)
