"""Checkpoints of one attempt, stored beside its log: files, and two lists written in turn.

A list is written after all its files, and names only files of the same attempt. After an
interruption, the newest complete list therefore still describes a complete checkpoint. No attempt
writes or removes files that another attempt uses.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from pydantic import ValidationError

from sluice.contracts.common.naming import checkpoint_list_name, checkpoint_name
from sluice.contracts.jobs.checkpoints import MAX_LIST, KeptCheckpoint, KeptFile
from sluice.storage import (
    FileMissing,
    StorageError,
    StoredFile,
    fetch,
    open_reader,
    put_bytes,
    put_open,
    remove,
)
from sluice.text.os_errors import reason_of

#: Numbers of the lists that are kept: the newest list and the one before it.
TURNS = (0, 1)


@dataclass(frozen=True, slots=True)
class CheckpointStore:
    """Checkpoints of one attempt.

    Attributes:
        folder: The URL of the folder for the task's logs.
        seq: The sequence number of the job.
    """

    folder: str
    seq: int
    attempt: int

    def file_url(self, number: int) -> str:
        """Return the URL of a checkpoint file."""
        return f"{self.folder}/{checkpoint_name(self.seq, self.attempt, number)}"

    def list_url(self, turn: int) -> str:
        """Return the URL of a checkpoint list."""
        return f"{self.folder}/{checkpoint_list_name(self.seq, self.attempt, turn)}"

    def put(self, file: int, number: int, *, check: Callable[[], None]) -> StoredFile:
        """Store an open file as the checkpoint file ``number``.

        ``check`` is called repeatedly during the copy. An exception that it raises ends the copy.

        Raises:
            StorageError: The storage did not take the file.
            OSError: The file could not be read.
        """
        return put_open(file, self.file_url(number), check=check)

    def put_list(self, checkpoint: KeptCheckpoint) -> None:
        """Store the list of a checkpoint.

        Raises:
            StorageError: The storage did not take the list.
            OSError: The list could not be written.
        """
        put_bytes(
            checkpoint.model_dump_json().encode(), self.list_url(checkpoint.number % len(TURNS))
        )

    def lists(self, *, note: Callable[[str], None] = lambda _: None) -> list[KeptCheckpoint]:
        """Return the readable checkpoint lists, the newest first.

        An unreadable list is left out and reported to ``note``.
        """
        checkpoints = []
        for turn in TURNS:
            try:
                checkpoints.append(self._read_list(turn))
            except FileMissing:
                continue
            except (StorageError, OSError, ValidationError) as error:
                why = "it is damaged" if isinstance(error, ValidationError) else reason_of(error)
                note(f"a checkpoint of attempt {self.attempt} cannot be read: {why}")
        return sorted(checkpoints, key=lambda checkpoint: checkpoint.number, reverse=True)

    def fetch(self, file: KeptFile, to: str) -> None:
        """Copy a checkpoint file to the path ``to`` and verify its checksum.

        Raises:
            StorageError: The file could not be read from the storage.
            OSError: The copy could not be written.
        """
        # ``copied`` equals the size of the file, so that ``fetch`` makes a copy and not a link.
        url = self.file_url(file.number)
        fetch(url, to, checksum=file.checksum, size=file.size, copied_bytes=file.size)

    def remove_file(self, number: int) -> bool:
        """Remove a checkpoint file and return whether it existed.

        Raises:
            StorageError: The storage did not remove the file.
        """
        return remove(self.file_url(number))

    def _read_list(self, turn: int) -> KeptCheckpoint:
        url = self.list_url(turn)
        with open_reader(url) as reader:
            if reader.size > MAX_LIST:
                raise FileMissing(url)
            return KeptCheckpoint.model_validate_json(reader.read(0, reader.size))

    def remove_all(self, remove_url: Callable[[str], bool]) -> None:
        """Remove all files and lists of this attempt.

        Lists are removed last, so that a later call still finds files that an interrupted call
        left. ``remove_url`` returns whether the file existed. Its exceptions pass through.
        """
        numbers = {number for checkpoint in self.lists() for number in checkpoint.numbers}
        for number in sorted(numbers):
            remove_url(self.file_url(number))
        # Remove the files of an incomplete checkpoint. Their numbers are consecutive.
        number = max(numbers, default=-1) + 1
        while remove_url(self.file_url(number)):
            number += 1
        for turn in TURNS:
            remove_url(self.list_url(turn))


def earlier_checkpoint_stores(store: CheckpointStore) -> Iterator[CheckpointStore]:
    """Yield the stores of the earlier attempts, the newest first."""
    for attempt in range(store.attempt - 1, 0, -1):
        yield CheckpointStore(store.folder, store.seq, attempt)


def remove_job_checkpoints(
    folder: str, seq: int, attempt: int, remove_url: Callable[[str], bool]
) -> None:
    """Remove the checkpoints of all attempts of an ended job up to ``attempt``.

    Errors of the storage are ignored: remaining files are removed when the data set of the logs is
    closed.
    """
    for number in range(1, attempt + 1):
        with suppress(StorageError, OSError):
            CheckpointStore(folder, seq, number).remove_all(remove_url)
