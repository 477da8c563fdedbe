"""Names of the files that jobs write: ``<seq, 8 digits or more>.<attempt>-<the tool's own name>``,
and ``….log``.

No two attempts share a name, so none ever overwrites another's file, and what an attempt that lost
left behind can be told by its name. The next tool sees the tool's own name again, as it would under
any other runner.

A name that could be read as another path (``ns::Class.txt``, ``x%2f``) is a file's name to a tool,
and no plain path to a storage. It is written as ``…-=`` with its doubtful characters as ``=`` and
two hexadecimal digits: ``…-=ns=3A=3AClass.txt``.

File systems take names of 255 bytes. A name that what is added makes longer than ``MAX_NAME_BYTES``
is cut: its beginning, a part of its hash and its endings stay.
"""

import hashlib
import re
from collections.abc import Callable

from sluice.contracts.plain_paths import stays_inside

_MADE = re.compile(
    r"(?P<start>(?:[0-9]{8}|[1-9][0-9]{8,})\.[0-9]+)(?:\.log|-(?P<own>.+))", re.ASCII | re.DOTALL
)

#: Begins an own name that is written with escapes, and each of them.
_ESCAPE = "="
_DOUBTFUL = re.compile(r"[=%:\\]")
_ESCAPED = re.compile(r"=(25|3A|3D|5C)")
#: What file systems take.
FILE_SYSTEM_NAME_BYTES = 255
#: Of a file's name, in UTF-8. The rest of the 255 bytes that file systems take is for what is added
#: where files of the same name are delivered side by side.
MAX_NAME_BYTES = 240
#: Characters of a data set's name.
MAX_DATASET_NAME = 200
#: The endings that a shortened name keeps, as in ``.nii.gz``.
_ENDINGS = re.compile(r"(?:\.[A-Za-z0-9]{1,10}){1,2}$", re.ASCII)


def attempt_prefix(seq: int, attempt: int) -> str:
    return f"{seq:08d}.{attempt}"


def name_bytes(name: str) -> int:
    """Return the length of a file's name in bytes, as file systems count it."""
    return len(name.encode(errors="surrogateescape"))


def fitting_name(
    stem: str, ending: str = "", *, most: int = MAX_NAME_BYTES, start: str = ""
) -> str:
    """Return ``start``, ``stem`` and ``ending`` together, in at most ``most`` bytes.

    Where they are longer, ``stem`` is cut, and a part of its hash tells it from others that begin
    alike.
    """
    return _fitting(lambda kept: f"{start}{kept}{ending}", stem, most)


def delivered_name(name: str, *, start: str = "") -> str:
    """Return ``start`` and a file's name, cut before its endings where both are too long."""
    stem, endings = _without_endings(name)
    return fitting_name(stem, endings, start=start)


def output_name(seq: int, attempt: int, own: str) -> str:
    """Return the name on the storage of the file that a tool called ``own``.

    ``own`` has no slash and no NUL. ``stays_inside`` holds for the result, which has at most
    ``MAX_NAME_BYTES`` bytes.
    """
    return output_name_that_fits(seq, attempt, *_without_endings(own))


def output_name_that_fits(seq: int, attempt: int, stem: str, ending: str) -> str:
    """Return the name of ``stem`` and ``ending`` together; a ``stem`` that is too long is cut."""
    start = attempt_prefix(seq, attempt)
    return _fitting(lambda kept: _named(start, kept + ending), stem, MAX_NAME_BYTES)


def _fitting(written: Callable[[str], str], stem: str, most: int) -> str:
    name, kept = written(stem), stem
    while name_bytes(name) > most and kept:
        kept = kept[:-1]
        name = written(f"{kept}-{file_key(stem)[:8]}")
    return name


def _without_endings(name: str) -> tuple[str, str]:
    found = _ENDINGS.search(name, 1)
    return (name, "") if found is None else (name[: found.start()], found[0])


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
    return hashlib.sha256(file.encode(errors="surrogateescape")).hexdigest()[:32]
