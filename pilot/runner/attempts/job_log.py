"""Log of an attempt: a plain text with the command, the result and the tool's messages."""

import os
import shlex
from dataclasses import dataclass, field
from datetime import datetime

from pilot.runner.programs.program import ProgramEnd
from pilot.runner.redaction import NOTHING, Redaction
from sluice.contracts.pilots.pilots import LeasedJob, PilotTask
from sluice.text.os_errors import reason_of

#: Maximum length of the command line in the log. A merge may name thousands of files.
_MAX_COMMAND = 20_000


@dataclass(slots=True)
class AttemptRecord:
    """What is known of an attempt so far.

    ``streams`` maps titles to descriptors of what the tool wrote. The descriptors stay valid if the
    tool replaces the files.
    """

    pilot: str
    started: datetime
    command: list[str] = field(default_factory=list)
    streams: dict[str, int] = field(default_factory=dict)
    ended: ProgramEnd | None = None
    #: A note on how the tool was run, if any.
    note: str = ""
    redaction: Redaction = NOTHING
    #: What the tool could reach in spite of the isolation, if anything.
    reach: list[str] = field(default_factory=list)
    #: Notes on checkpoints and on the amounts that the tool reported.
    checkpoints: list[str] = field(default_factory=list)


def write_log(
    task: PilotTask, job: LeasedJob, story: AttemptRecord, outcome: str, *, limit: int
) -> bytes:
    """Return the text of the log.

    ``outcome`` is one sentence. ``limit`` is the number of bytes kept of each stream, half from its
    start and half from its end.
    """
    names = ", ".join(file.name for file in job.inputs[:20]) + (
        f" and {len(job.inputs) - 20} more" if len(job.inputs) > 20 else ""
    )
    command = shlex.join(story.command) or "(not reached)"
    lines = [
        f"step {task.step}, job {job.id}, attempt {job.attempt}, place {job.seq} in the data set",
        f"task {task.uid}, chain {task.chain_uid}",
        f"pilot {story.pilot}",
        f"started {story.started.isoformat(timespec='milliseconds')}",
        f"inputs {names}",
        f"command {command if len(command) <= _MAX_COMMAND else command[:_MAX_COMMAND] + ' …'}",
    ]
    lines += filter(None, (story.note, *story.reach, *story.checkpoints))
    if story.ended is not None:
        ended = story.ended
        memory = "" if ended.memory is None else f", memory at most {ended.memory:.1f} MiB"
        cpu = "" if ended.cpu is None else f", CPU {ended.cpu:.3f} s"
        moved = (
            ""
            if ended.read is None or ended.written is None
            else f", read {ended.read} bytes, wrote {ended.written}"
        )
        lines.append(f"exit code {ended.exit_code}, {ended.seconds:.3f} s{cpu}{memory}{moved}")
    told = ("\n".join([*lines, f"outcome {outcome}", ""])).encode(errors="replace")
    parts = [story.redaction.data(told)]
    for title, stream in story.streams.items():
        parts.append(f"\n--- {title} ---\n".encode())
        parts.append(_shortened(stream, limit, story.redaction))
    return b"".join(parts)


def _shortened(file: int, limit: int, hide: Redaction) -> bytes:
    try:
        size = os.fstat(file).st_size
        if size <= limit:
            return hide.read(file, 0, size)
        half = limit // 2
        left_out = f"\n… {size - 2 * half} bytes left out …\n".encode()
        return hide.read(file, 0, half) + left_out + hide.read(file, size - half, size)
    except OSError as error:
        return f"(cannot be read: {reason_of(error)})\n".encode()
