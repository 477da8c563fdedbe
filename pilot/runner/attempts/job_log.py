"""Log of an attempt: a plain text with the command, the result and the tool's messages."""

import os
import shlex
from dataclasses import dataclass, field
from datetime import datetime

from pilot.runner.programs.program import ProgramEnd
from pilot.runner.redaction import NO_REDACTION, Redaction
from sluice.contracts.pilots.leases import LeasedJob, PilotTask
from sluice.text.os_errors import reason_of

#: Maximum length of the command line in the log. A merge may name thousands of files.
_MAX_COMMAND = 20_000


@dataclass(slots=True)
class AttemptRecord:
    """Data about an attempt for its log.

    Attributes:
        streams: Descriptors of what the tool wrote, by title. The descriptors stay valid if the
            tool replaces the files.
        note: A note on how the tool was run, if any.
        isolation_gaps: Lines about what the tool could reach in spite of the isolation.
        notes: Notes on checkpoints and on the amounts that the tool reported.
    """

    pilot: str
    started_at: datetime
    command: list[str] = field(default_factory=list)
    streams: dict[str, int] = field(default_factory=dict)
    program_end: ProgramEnd | None = None
    note: str = ""
    redaction: Redaction = NO_REDACTION
    isolation_gaps: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def write_log(
    task: PilotTask, job: LeasedJob, record: AttemptRecord, outcome: str, *, limit: int
) -> bytes:
    """Return the text of the log.

    ``outcome`` is one sentence. ``limit`` is the number of bytes kept of each stream, half from its
    start and half from its end.
    """
    names = ", ".join(file.name for file in job.inputs[:20]) + (
        f" and {len(job.inputs) - 20} more" if len(job.inputs) > 20 else ""
    )
    command = shlex.join(record.command) or "(not reached)"
    lines = [
        f"step {task.step}, job {job.id}, attempt {job.attempt}, place {job.seq} in the data set",
        f"task {task.uid}, chain {task.chain_uid}",
        f"pilot {record.pilot}",
        f"started {record.started_at.isoformat(timespec='milliseconds')}",
        f"inputs {names}",
        f"command {command if len(command) <= _MAX_COMMAND else command[:_MAX_COMMAND] + ' …'}",
    ]
    lines += filter(None, (record.note, *record.isolation_gaps, *record.notes))
    if record.program_end is not None:
        end = record.program_end
        memory = "" if end.memory is None else f", memory at most {end.memory:.1f} MiB"
        cpu = "" if end.cpu is None else f", CPU {end.cpu:.3f} s"
        moved = (
            ""
            if end.read is None or end.written is None
            else f", read {end.read} bytes, wrote {end.written}"
        )
        lines.append(f"exit code {end.exit_code}, {end.seconds:.3f} s{cpu}{memory}{moved}")
    header = ("\n".join([*lines, f"outcome {outcome}", ""])).encode(errors="replace")
    parts = [record.redaction.redact(header)]
    for title, stream in record.streams.items():
        parts.append(f"\n--- {title} ---\n".encode())
        parts.append(_shorten(stream, limit, record.redaction))
    return b"".join(parts)


def _shorten(file: int, limit: int, redaction: Redaction) -> bytes:
    try:
        size = os.fstat(file).st_size
        if size <= limit:
            return redaction.read(file, 0, size)
        half = limit // 2
        omission = f"\n… {size - 2 * half} bytes left out …\n".encode()
        return redaction.read(file, 0, half) + omission + redaction.read(file, size - half, size)
    except OSError as error:
        return f"(cannot be read: {reason_of(error)})\n".encode()
