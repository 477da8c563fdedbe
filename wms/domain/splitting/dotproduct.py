"""Jobs of the files of several data sets with the same number (CWL: scatter, dotproduct)."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from sluice.contracts.jobs.job_inputs import InputFile


@dataclass(slots=True)
class FileStream:
    """The files of one data set in order of number, as far as they were read.

    Attributes:
        optional: Jobs do without a file of it.
        over: There are no more files.
    """

    port: str
    optional: bool
    files: list[InputFile] = field(default_factory=list)
    over: bool = False
    _next: int = 0

    @property
    def is_dry(self) -> bool:
        """Whether more files must be read before the next job is known."""
        return self._next == len(self.files) and not self.over

    @property
    def head(self) -> InputFile | None:
        """The next file, or None."""
        return self.files[self._next] if self._next < len(self.files) else None

    def add(self, files: list[InputFile], *, last: bool) -> None:
        """Add files that were read; ``last`` if there are no more."""
        self.files = [*self.files[self._next :], *files]
        self.over = last
        self._next = 0

    def take(self) -> None:
        """Move on to the next file."""
        self._next += 1


def join_streams(streams: list[FileStream]) -> Iterator[tuple[int, list[InputFile]]]:
    """Yield the number and files of each job, until a stream is dry or nothing is left.

    A job needs at least one file, and one of each stream that is not optional. The files come in
    the order of the streams.
    """
    while not any(stream.is_dry for stream in streams):
        heads = [head.seq for stream in streams if (head := stream.head) is not None]
        if not heads or any(stream.head is None and not stream.optional for stream in streams):
            return
        number = min(heads)
        files_by_port: dict[str, InputFile] = {}
        for stream in streams:
            head = stream.head
            if head is not None and head.seq == number:
                files_by_port[stream.port] = head
                stream.take()
        if all(stream.optional or stream.port in files_by_port for stream in streams):
            yield number, list(files_by_port.values())


def is_over(streams: list[FileStream]) -> bool:
    """Return whether no more jobs can follow."""
    return any(s.over and s.head is None and not s.optional for s in streams) or all(
        s.over and s.head is None for s in streams
    )
