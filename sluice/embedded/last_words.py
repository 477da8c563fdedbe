"""Why a pilot has ended, from what it has written to its log."""

import json
import os
import signal
from pathlib import Path

#: Bytes of the log's end that are looked at.
_END = 16_384
#: What it says in plain lines begins with.
_SPEAKER = "sluice-pilot: "


def last_words(log: Path, begin: int, code: int) -> str:
    """Its own last sentence in what it has written since byte ``begin``, else how it ended.
    ``code``: exit code, negative for a signal.
    """
    if code < 0:
        return f"it was killed by {signal.Signals(-code).name}"
    with log.open("rb") as file:
        file.seek(max(begin, os.fstat(file.fileno()).st_size - _END))
        lines = file.read().decode(errors="replace").splitlines()
    said = next((line for line in reversed(lines) if line.strip()), "")
    return _sentence(said) or f"it ended with exit code {code}"


def _sentence(line: str) -> str:
    """Of a structured line, the reason that it gives, or the end of its traceback."""
    try:
        fields = json.loads(line)
    except ValueError:
        fields = None
    if not isinstance(fields, dict):
        return line.strip().removeprefix(_SPEAKER)
    exception = str(fields.get("exception", "")).strip().splitlines()
    return str(fields.get("reason") or (exception[-1] if exception else fields.get("event", "")))
