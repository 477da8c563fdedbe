"""The reason why a pilot has ended, taken from its log."""

import json
import os
import signal
from pathlib import Path

#: Bytes at the end of the log that are read.
_END = 16_384
#: The prefix of the pilot's plain messages.
_SPEAKER = "sluice-pilot: "


def last_words(log: Path, begin: int, code: int) -> str:
    """Return the last message that a pilot wrote since byte ``begin``, or how it ended.

    ``code`` is the exit code, negative for a signal.
    """
    if code < 0:
        return f"it was killed by {signal.Signals(-code).name}"
    with log.open("rb") as file:
        file.seek(max(begin, os.fstat(file.fileno()).st_size - _END))
        lines = file.read().decode(errors="replace").splitlines()
    said = next((line for line in reversed(lines) if line.strip()), "")
    return _sentence(said) or f"it ended with exit code {code}"


def _sentence(line: str) -> str:
    """Return the reason in a structured log line, or the last line of its traceback."""
    try:
        fields = json.loads(line)
    except ValueError:
        fields = None
    if not isinstance(fields, dict):
        return line.strip().removeprefix(_SPEAKER)
    exception = str(fields.get("exception", "")).strip().splitlines()
    return str(fields.get("reason") or (exception[-1] if exception else fields.get("event", "")))
