"""Sentences for people about the end of a program, with its last output."""

import os
import signal

from pilot.runner.redaction import NO_REDACTION, Redaction
from sluice.text.visible_text import quoted

#: Offset of a shell's exit status after a signal killed its program.
_SHELL_OFFSET = 128
#: Signals that end a program and whose shell exit codes rarely mean anything else.
_DEADLY = {
    signal.SIGILL,
    signal.SIGABRT,
    signal.SIGBUS,
    signal.SIGFPE,
    signal.SIGKILL,
    signal.SIGSEGV,
    signal.SIGPIPE,
    signal.SIGTERM,
    signal.SIGXCPU,
    signal.SIGXFSZ,
    signal.SIGSYS,
}


def last_line(
    file: int, start: int = 0, end: int | None = None, *, redaction: Redaction = NO_REDACTION
) -> str:
    """Return the last line of an open file that is not empty, at most 300 characters.

    Only the bytes from ``start`` to ``end`` are read. Without such a line, the result is empty.
    """
    try:
        end = os.fstat(file).st_size if end is None else end
        start = max(start, end - 4096)
        lines = [
            line.strip()
            for line in redaction.read(file, start, max(start, end))
            .decode(errors="replace")
            .splitlines()
        ]
    except OSError:
        return ""
    return next((line[:300] for line in reversed(lines) if line), "")


def describe_failure(program: str, code: int, *, last_output: str) -> str:
    """Return a sentence about a failed program.

    ``code`` is its exit status, negative for a signal. ``last_output`` is the last line of its
    standard error.
    """
    end = f"was killed by {signal_name(-code)}" if code < 0 else f"ended with exit code {code}"
    if code - _SHELL_OFFSET in _DEADLY:
        end += f" (what it ran was killed by {signal_name(code - _SHELL_OFFSET)})"
    return f"{quoted(program)} {end}" + (f": {last_output}" if last_output else "")


def signal_name(number: int) -> str:
    """Return ``SIGKILL``, or ``SIGRTMIN+3`` for a real-time signal."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIGRTMIN+{number - signal.SIGRTMIN}"


def describe_missing_program(program: str) -> str:
    """Return why a program cannot be started that neither the tool nor the node has."""
    if os.path.sep in program:
        return f"program {quoted(program)} does not exist on this node, or its interpreter does not"
    return (
        f"program {quoted(program)} was not found on this node's PATH: install it in one of its"
        " folders, or add the folder that has it to the PATH that the pilot is started with"
    )
