"""Names of the files that jobs write.

A file is named ``<seq, 8 digits or more>.<attempt>-<the tool's own name>``, a log
``<seq>.<attempt>.log``. No two attempts share a name, so no attempt overwrites files of another
one. The name also identifies what a failed attempt left behind. The next tool gets the file under
the tool's own name, as with any other runner.

An own name that storages could read as another path (``ns::Class.txt``, ``x%2f``) is written with
escapes: ``…-=ns=3A=3AClass.txt``. Such an own name begins with ``=``. Each doubtful character
becomes ``=`` and two hexadecimal digits.

File systems accept names of up to 255 bytes. A name of more than ``MAX_NAME_BYTES`` is shortened:
its beginning, a part of its hash and its endings stay.
"""

import hashlib
import re
from collections.abc import Callable

from sluice.contracts.common.plain_paths import stays_inside

_ATTEMPT_NAME = re.compile(
    r"(?P<start>(?:[0-9]{8}|[1-9][0-9]{8,})\.[0-9]+)(?:\.log|-(?P<own>.+))", re.ASCII | re.DOTALL
)

#: The first character of an own name with escapes, and of each escape.
_ESCAPE = "="
_DOUBTFUL = re.compile(r"[=%:\\]")
_ESCAPED = re.compile(r"=(25|3A|3D|5C)")
#: Maximum length of a name on file systems.
FILE_SYSTEM_NAME_BYTES = 255
#: Maximum length of a file's name in UTF-8. The other bytes are for prefixes, if files of the same
#: name are delivered into one folder.
MAX_NAME_BYTES = 240
#: Maximum length of a data set's name in characters.
MAX_DATASET_NAME = 200
#: The endings that a shortened name keeps, such as ``.nii.gz``.
_ENDINGS = re.compile(r"(?:\.[A-Za-z0-9]{1,10}){1,2}$", re.ASCII)


def attempt_prefix(seq: int, attempt: int) -> str:
    """Return the beginning of the names of all files of an attempt."""
    return f"{seq:08d}.{attempt}"


def name_bytes(name: str) -> int:
    """Return the length of a file's name in bytes, as file systems count it."""
    return len(name.encode(errors="surrogateescape"))


def fitting_name(
    stem: str, ending: str = "", *, max_bytes: int = MAX_NAME_BYTES, start: str = ""
) -> str:
    """Return ``start``, ``stem`` and ``ending`` together, in at most ``max_bytes`` bytes.

    A longer ``stem`` is shortened. A part of its hash distinguishes it from other names with the
    same beginning.
    """
    return _shorten_to_fit(lambda shortened: f"{start}{shortened}{ending}", stem, max_bytes)


def delivered_name(name: str, *, start: str = "") -> str:
    """Return ``start`` and a file's name, shortened before its endings if it is too long."""
    stem, endings = _without_endings(name)
    return fitting_name(stem, endings, start=start)


def output_name(seq: int, attempt: int, own_name: str) -> str:
    """Return the name on the storage of a file that the tool called ``own_name``.

    ``own_name`` has no slash and no NUL. The result has at most ``MAX_NAME_BYTES`` bytes and is a
    plain path (``stays_inside``).
    """
    return output_name_that_fits(seq, attempt, *_without_endings(own_name))


def output_name_that_fits(seq: int, attempt: int, stem: str, ending: str) -> str:
    """Return the name of ``stem`` and ``ending``; a ``stem`` that is too long is shortened."""
    start = attempt_prefix(seq, attempt)
    return _shorten_to_fit(
        lambda shortened: _build_name(start, shortened + ending), stem, MAX_NAME_BYTES
    )


def _shorten_to_fit(build_name: Callable[[str], str], stem: str, max_bytes: int) -> str:
    name, shortened = build_name(stem), stem
    while name_bytes(name) > max_bytes and shortened:
        shortened = shortened[:-1]
        name = build_name(f"{shortened}-{file_key(stem)[:8]}")
    return name


def _without_endings(name: str) -> tuple[str, str]:
    match = _ENDINGS.search(name, 1)
    return (name, "") if match is None else (name[: match.start()], match[0])


def _build_name(start: str, own_name: str) -> str:
    plain = f"{start}-{own_name}"
    if stays_inside(plain) and not own_name.startswith(_ESCAPE):
        return plain
    return f"{start}-{_ESCAPE}" + _DOUBTFUL.sub(
        lambda match: f"{_ESCAPE}{ord(match[0]):02X}", own_name
    )


def log_name(seq: int, attempt: int) -> str:
    """Return the name of the log of an attempt."""
    return f"{attempt_prefix(seq, attempt)}.log"


def live_name(seq: int, attempt: int) -> str:
    """Return the name of the live log of a running attempt."""
    return output_name(seq, attempt, "live.json")


def checkpoint_name(seq: int, attempt: int, number: int) -> str:
    """Return the name of a file of a checkpoint, which is beside the attempt's log."""
    return output_name(seq, attempt, f"checkpoint.{number}")


def checkpoint_list_name(seq: int, attempt: int, turn: int) -> str:
    """Return the name of the list of a checkpoint's files.

    An attempt has two lists, which it writes in turn. ``turn`` is 0 or 1.
    """
    return output_name(seq, attempt, f"checkpoint-list.{turn}.json")


def log_place(name: str) -> tuple[int, int] | None:
    """Return the job number and the attempt from the name of a log, or None for other names."""
    match = _ATTEMPT_NAME.fullmatch(name)
    if match is None or match["own"] is not None:
        return None
    seq, attempt = str(match["start"]).split(".")
    return int(seq), int(attempt)


def own_name(name: str) -> str:
    """Return the name that the tool gave the file; names of another form stay the same."""
    match = _ATTEMPT_NAME.fullmatch(name)
    if match is None or match["own"] is None:
        return name
    own = str(match["own"])
    if not own.startswith(_ESCAPE):
        return own
    unescaped = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), own.removeprefix(_ESCAPE))
    # A name that only looks escaped is returned as it is.
    return unescaped if _build_name(match["start"], unescaped) == name else own


def written_by_attempt(name: str) -> bool:
    """Return whether a name has the form of the files that attempts write."""
    return _ATTEMPT_NAME.fullmatch(name) is not None


def file_key(file: str) -> str:
    """Return a short key for a file's name, which is part of the names of the file's pieces."""
    return hashlib.sha256(file.encode(errors="surrogateescape")).hexdigest()[:32]
