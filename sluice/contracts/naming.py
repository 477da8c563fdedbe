"""Names of the files that jobs write: ``<seq, 8 digits or more>.<attempt>-<the tool's own name>``,
and ``….log``.

No two attempts share a name, so none ever overwrites another's file, and what an attempt that lost
left behind can be told by its name. The next tool sees the tool's own name again, as it would under
any other runner.

A name that could be read as another path (``ns::Class.txt``, ``x%2f``) is a file's name to a tool,
and no plain path to a storage. It is written as ``…-=`` with its doubtful characters as ``=`` and
two hexadecimal digits: ``…-=ns=3A=3AClass.txt``.
"""

import hashlib
import re

from sluice.contracts.plain_paths import stays_inside

_MADE = re.compile(
    r"(?P<start>(?:[0-9]{8}|[1-9][0-9]{8,})\.[0-9]+)(?:\.log|-(?P<own>.+))", re.ASCII | re.DOTALL
)

#: Begins an own name that is written with escapes, and each of them.
_ESCAPE = "="
_DOUBTFUL = re.compile(r"[=%:\\]")
_ESCAPED = re.compile(r"=(25|3A|3D|5C)")
#: Of a name, in UTF-8: no contract and no file system refuses these.
_MOST_BYTES = 240


def attempt_prefix(seq: int, attempt: int) -> str:
    return f"{seq:08d}.{attempt}"


def output_name(seq: int, attempt: int, own: str) -> str:
    """Name on the storage of the file that a tool called ``own``, which has no slash and no NUL:
    ``stays_inside`` it is."""
    return _named(attempt_prefix(seq, attempt), own)


def output_name_that_fits(seq: int, attempt: int, stem: str, ending: str) -> str:
    """As ``output_name`` of both together; of a ``stem`` that makes it too long the beginning, and
    what tells it from others that begin so."""
    name, kept = output_name(seq, attempt, stem + ending), stem
    while len(name.encode()) > _MOST_BYTES:
        kept = kept[:-1]
        name = output_name(seq, attempt, f"{kept}-{file_key(stem)[:8]}{ending}")
    return name


def _named(start: str, own: str) -> str:
    plain = f"{start}-{own}"
    if stays_inside(plain) and not own.startswith(_ESCAPE):
        return plain
    return f"{start}-{_ESCAPE}" + _DOUBTFUL.sub(lambda found: f"{_ESCAPE}{ord(found[0]):02X}", own)


def log_name(seq: int, attempt: int) -> str:
    return f"{attempt_prefix(seq, attempt)}.log"


def live_name(seq: int, attempt: int) -> str:
    """Name of what has been written to the log so far, while the attempt runs."""
    return output_name(seq, attempt, "live.json")


def checkpoint_name(seq: int, attempt: int, number: int) -> str:
    """Name of a file of a checkpoint, beside the attempt's log."""
    return output_name(seq, attempt, f"checkpoint.{number}")


def checkpoint_list_name(seq: int, attempt: int, turn: int) -> str:
    """Name of the list of a checkpoint's files, of which two are kept, in turn (0, 1)."""
    return output_name(seq, attempt, f"checkpoint-list.{turn}.json")


def log_place(name: str) -> tuple[int, int] | None:
    """Sequence number and attempt of a log of this name; None: it is none."""
    made = _MADE.fullmatch(name)
    if made is None or made["own"] is not None:
        return None
    seq, attempt = str(made["start"]).split(".")
    return int(seq), int(attempt)


def own_name(name: str) -> str:
    """What the tool called it; names of another form are returned as they are."""
    made = _MADE.fullmatch(name)
    if made is None or made["own"] is None:
        return name
    own = str(made["own"])
    if not own.startswith(_ESCAPE):
        return own
    undone = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), own.removeprefix(_ESCAPE))
    # Pilots of the release before write names that begin so as they are: only what is written with
    # escapes is read with them.
    return undone if _named(made["start"], undone) == name else own


def written_by_attempt(name: str) -> bool:
    """Is it of the form that attempts at jobs give their files?"""
    return _MADE.fullmatch(name) is not None


def file_key(file: str) -> str:
    """What stands for a file's name in those of its pieces, which may be no longer."""
    return hashlib.sha256(file.encode()).hexdigest()[:32]
