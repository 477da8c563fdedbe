"""What is kept of a job's files while it runs, and given to the next attempt at it."""

from typing import Annotated
from urllib.parse import quote, unquote_to_bytes

from pydantic import AfterValidator, Field

from sluice.contracts.base import Checksum, Contract, Timestamp
from sluice.contracts.numbers import in_full
from sluice.contracts.wording import in_words
from sluice.visible_text import quoted

#: Seconds between two checkpoints, at the least, and at the most.
SHORTEST, LONGEST = 1, 86_400
#: Patterns of one tool, and characters of each.
MOST_PATTERNS, MOST_PATTERN = 64, 1024
#: Files of one checkpoint: all are open while they are looked at.
MOST_KEPT_FILES = 500
#: Bytes of the list of its files that are read.
MOST_LIST = 4 << 20

EXAMPLE = "sluice:checkpoint: {files: [state/*], every: 10}"


def _below_the_folder(pattern: str) -> str:
    parts = pattern.split("/")
    if "$(" in pattern or "${" in pattern:
        raise in_words(f"{quoted(pattern)} is an expression; name the files as the tool does")
    if pattern.startswith("/") or ".." in parts:
        raise in_words(f"{quoted(pattern)} leaves the folder that the tool runs in")
    if "**" in pattern:
        raise in_words(f"{quoted(pattern)} has '**'; of a folder that matches all is kept")
    if not all(parts) or "." in parts or not pattern.isprintable():
        raise in_words(f"{quoted(pattern)} is no path such as state/* or model.pt")
    return pattern


Pattern = Annotated[str, Field(max_length=MOST_PATTERN), AfterValidator(_below_the_folder)]


class Checkpoint(Contract):
    """``files``: which, as patterns below the folder that the tool runs in. ``every``: seconds
    between two checkpoints, at the least."""

    files: Annotated[list[Pattern], Field(min_length=1, max_length=MOST_PATTERNS)]
    every: Annotated[float, Field(ge=SHORTEST, le=LONGEST)] = 10.0

    @property
    def words(self) -> str:
        return f"a checkpoint every {in_full(self.every)} s"


class KeptFile(Contract):
    """``path``: in the folder that the tool runs in, its bytes as in URLs; ``number``: of the file
    on the storage that has its content. Another attempt's files are never named."""

    path: str
    number: Annotated[int, Field(ge=0)]
    size: Annotated[int, Field(ge=0)]
    checksum: Checksum

    @property
    def plain_path(self) -> bytes | None:
        """None where it leads out of the folder, whoever wrote it."""
        path = unquote_to_bytes(self.path)
        parts = path.split(b"/")
        is_plain = b"\0" not in path and not {b"", b".", b".."} & set(parts)
        return path if is_plain else None


def quoted_path(path: bytes) -> str:
    """As a ``KeptFile`` has it: tools give their files any names."""
    return quote(path)


class KeptCheckpoint(Contract):
    """The list of a checkpoint's files, written once they are all there. ``number``: the newest of
    an attempt has the highest. ``spent``: numbers of files that go once this list is there."""

    number: Annotated[int, Field(ge=0)]
    taken_at: Timestamp
    files: Annotated[list[KeptFile], Field(max_length=MOST_KEPT_FILES)]
    spent: list[Annotated[int, Field(ge=0)]] = Field(default_factory=list)

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    @property
    def numbers(self) -> set[int]:
        """Of all files on the storage that it knows of."""
        return {file.number for file in self.files} | set(self.spent)
