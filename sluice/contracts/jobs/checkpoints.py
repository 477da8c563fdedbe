"""Checkpoints: files of a running job that the next attempt gets."""

from typing import Annotated
from urllib.parse import quote, unquote_to_bytes

from pydantic import AfterValidator, Field

from sluice.contracts.common.base import Checksum, Contract, Timestamp
from sluice.contracts.common.numbers import in_full
from sluice.contracts.common.wording import in_words
from sluice.text.visible_text import quoted

#: The least and the most seconds between two checkpoints.
MIN_INTERVAL, MAX_INTERVAL = 1, 86_400
#: The most patterns of one tool, and the most characters of a pattern.
MAX_PATTERNS, MAX_PATTERN = 64, 1024
#: The most files of one checkpoint. All are open while they are read.
MAX_CHECKPOINT_FILES = 500
#: The most bytes of the list of its files.
MAX_LIST = 4 << 20

#: The folder, below that of the job's files, with the results of finished tools of a workflow, and
#: the seconds between its checkpoints.
FINISHED_STEPS, FINISHED_STEPS_EVERY = ".finished-steps", 60.0

EXAMPLE = "sluice:checkpoint: {files: [state/*], every: 10}"


def _require_relative(pattern: str) -> str:
    parts = pattern.split("/")
    if "$(" in pattern or "${" in pattern:
        raise in_words(f"{quoted(pattern)} is an expression; name the files as the tool does")
    if pattern.startswith("/") or ".." in parts:
        raise in_words(f"{quoted(pattern)} leaves the folder that the tool runs in")
    if "**" in pattern:
        raise in_words(f"{quoted(pattern)} has '**'; name the folder to save all its files")
    if not all(parts) or "." in parts or not pattern.isprintable():
        raise in_words(f"{quoted(pattern)} is not a path such as state/* or model.pt")
    return pattern


Pattern = Annotated[str, Field(max_length=MAX_PATTERN), AfterValidator(_require_relative)]


class Checkpoint(Contract):
    """What a checkpoint of a tool contains.

    Attributes:
        files: Patterns below the folder that the tool runs in.
        every: The minimum number of seconds between two checkpoints.
    """

    files: Annotated[list[Pattern], Field(min_length=1, max_length=MAX_PATTERNS)]
    every: Annotated[float, Field(ge=MIN_INTERVAL, le=MAX_INTERVAL)] = 10.0

    @property
    def words(self) -> str:
        """Return a description for people."""
        return f"a checkpoint every {in_full(self.every)} s"


class KeptFile(Contract):
    """A file of a checkpoint.

    Attributes:
        path: The path below the folder of the tool, percent-encoded.
        number: The number of the file on the storage with its content. It never refers to files of
            another attempt.
    """

    path: str
    number: Annotated[int, Field(ge=0)]
    size: Annotated[int, Field(ge=0)]
    checksum: Checksum

    @property
    def plain_path(self) -> bytes | None:
        """Return the decoded path, or None if it leaves the folder of the tool."""
        path = unquote_to_bytes(self.path)
        parts = path.split(b"/")
        is_plain = b"\0" not in path and not {b"", b".", b".."} & set(parts)
        return path if is_plain else None


def quoted_path(path: bytes) -> str:
    """Return a path percent-encoded, as ``KeptFile`` contains it.

    Tools may give files any names.
    """
    return quote(path)


class KeptCheckpoint(Contract):
    """The list of the files of a checkpoint, written when all files exist.

    Attributes:
        number: The number of the checkpoint. The newest checkpoint of an attempt has the highest
            number.
        spent: The numbers of files that are deleted when this list exists.
    """

    number: Annotated[int, Field(ge=0)]
    taken_at: Timestamp
    files: Annotated[list[KeptFile], Field(max_length=MAX_CHECKPOINT_FILES)]
    spent: list[Annotated[int, Field(ge=0)]] = Field(default_factory=list)

    @property
    def size(self) -> int:
        """Return the total size of the files in bytes."""
        return sum(file.size for file in self.files)

    @property
    def numbers(self) -> set[int]:
        """Return the numbers of all files on the storage that the list names."""
        return {file.number for file in self.files} | set(self.spent)
