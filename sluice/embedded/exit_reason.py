"""The reason why a pilot has ended, taken from its log."""

import json
import os
import signal
from pathlib import Path

#: Bytes at the end of the log that are read.
_MAX_TAIL = 16_384
#: The prefix of the pilot's plain messages.
_MESSAGE_PREFIX = "sluice-pilot: "


def read_exit_reason(log: Path, begin: int, code: int) -> str:
    """Return the last message that a pilot wrote since byte ``begin``, or how it ended.

    ``code`` is the exit code, negative for a signal.
    """
    if code < 0:
        return f"it was killed by {signal.Signals(-code).name}"
    with log.open("rb") as file:
        file.seek(max(begin, os.fstat(file.fileno()).st_size - _MAX_TAIL))
        lines = file.read().decode(errors="replace").splitlines()
    last_line = next((line for line in reversed(lines) if line.strip()), "")
    return _extract_reason(last_line) or f"it ended with exit code {code}"


def _extract_reason(line: str) -> str:
    """Return the reason in a structured log line, or the last line of its traceback."""
    try:
        fields = json.loads(line)
    except ValueError:
        fields = None
    if not isinstance(fields, dict):
        return line.strip().removeprefix(_MESSAGE_PREFIX)
    exception = str(fields.get("exception", "")).strip().splitlines()
    return str(fields.get("reason") or (exception[-1] if exception else fields.get("event", "")))
