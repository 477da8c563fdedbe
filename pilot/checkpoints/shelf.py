"""Checkpoints of one attempt at a job, beside its log: files, and two lists of them in turn.

A list is written once its files are all there, and names no others than this attempt's. So whatever
is cut off, the newer of two whole lists is a whole checkpoint, and no attempt writes or removes
what another goes by.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from pydantic import ValidationError

from sluice.contracts.checkpoints import MOST_LIST, KeptCheckpoint, KeptFile
from sluice.contracts.naming import checkpoint_list_name, checkpoint_name
from sluice.storage import (
    FileMissing,
    StorageError,
    Stored,
    fetch,
    open_reader,
    put_bytes,
    put_open,
    remove,
)

#: Lists that are kept, the newest and the one before.
TURNS = (0, 1)


@dataclass(frozen=True, slots=True)
class Shelf:
    """``folder``: URL of the one that the task's logs go to."""

    folder: str
    seq: int
    attempt: int

    def file_url(self, number: int) -> str:
        return f"{self.folder}/{checkpoint_name(self.seq, self.attempt, number)}"

    def list_url(self, turn: int) -> str:
        return f"{self.folder}/{checkpoint_list_name(self.seq, self.attempt, turn)}"

    def put(self, file: int, number: int, *, check: Callable[[], None]) -> Stored:
        """An open file. ``check``: called again and again meanwhile; what it raises breaks it off.
        Raises ``StorageError``, ``OSError``."""
        return put_open(file, self.file_url(number), check=check)

    def put_list(self, kept: KeptCheckpoint) -> None:
        """Raises ``StorageError``, ``OSError``."""
        put_bytes(kept.model_dump_json().encode(), self.list_url(kept.number % len(TURNS)))

    def lists(self, *, note: Callable[[str], None] = lambda _: None) -> list[KeptCheckpoint]:
        """The newest first; what cannot be read is none of them, and noted. Raises nothing."""
        found = []
        for turn in TURNS:
            try:
                found.append(self._list(turn))
            except FileMissing:
                continue
            except (StorageError, OSError, ValidationError) as error:
                why = "it is damaged" if isinstance(error, ValidationError) else str(error)
                note(f"a checkpoint of attempt {self.attempt} cannot be read: {why}")
        return sorted(found, key=lambda kept: kept.number, reverse=True)

    def fetch(self, file: KeptFile, to: str) -> None:
        """A copy at the path ``to``, verified. Raises ``StorageError``, ``OSError``."""
        # Never a link, as it would be of a file that is larger than ``copied``.
        url = self.file_url(file.number)
        fetch(url, to, checksum=file.checksum, size=file.size, copied=file.size)

    def remove_file(self, number: int) -> bool:
        """Raises ``StorageError``."""
        return remove(self.file_url(number))

    def _list(self, turn: int) -> KeptCheckpoint:
        url = self.list_url(turn)
        with open_reader(url) as reader:
            if reader.size > MOST_LIST:
                raise FileMissing(url)
            return KeptCheckpoint.model_validate_json(reader.read(0, reader.size))

    def remove_all(self, remove_url: Callable[[str], bool]) -> None:
        """Lists last: what is left by a kill is found again. ``remove_url``: True: it was there.
        Raises what it raises."""
        known = {number for kept in self.lists() for number in kept.numbers}
        for number in sorted(known):
            remove_url(self.file_url(number))
        # Of a checkpoint that was never whole; they were written one after the other.
        number = max(known, default=-1) + 1
        while remove_url(self.file_url(number)):
            number += 1
        for turn in TURNS:
            remove_url(self.list_url(turn))


def shelves_before(shelf: Shelf) -> Iterator[Shelf]:
    """Of the attempts before this one, the newest first."""
    for attempt in range(shelf.attempt - 1, 0, -1):
        yield Shelf(shelf.folder, shelf.seq, attempt)


def remove_job(folder: str, seq: int, attempt: int, remove_url: Callable[[str], bool]) -> None:
    """All that the attempts up to this one have kept; for a job that has ended. Raises nothing of
    storages': what is left goes when the logs' data set is closed."""
    for number in range(1, attempt + 1):
        with suppress(StorageError, OSError):
            Shelf(folder, seq, number).remove_all(remove_url)
