"""Output that never blocks, so that a pager, Ctrl-S or a full pipe cannot stop the system."""

import os
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

#: Bytes that are buffered for a slow reader. Further output is dropped and counted.
_MAX_KEPT = 1024 * 1024
#: Bytes that are read or written at once.
_PIECE = 65_536
#: Seconds for the reader at the end.
_END = 1.0


@contextmanager
def unblocked_output() -> Iterator[None]:
    """Let threads write the output of this process and its children as fast as it is read.

    Output to files is not changed. The threads work on the descriptors, so that the output of
    libraries is included.
    """
    with ExitStack() as ends:
        for stream, descriptor in ((sys.stdout, 1), (sys.stderr, 2)):
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                ends.enter_context(_unblocked(descriptor))
                ends.callback(stream.flush)
        yield


@contextmanager
def _unblocked(descriptor: int) -> Iterator[None]:
    target = os.dup(descriptor)
    source, write = os.pipe()
    os.dup2(write, descriptor)
    os.close(write)
    kept = _KeptOutput(source, target)
    threads = [
        threading.Thread(target=work, daemon=True, name="output")
        for work in (kept.read, kept.write)
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        os.dup2(
            target, descriptor
        )  # removes the pipe's last writer, so that the first thread sees the end
        for thread in threads:
            thread.join(_END)


class _KeptOutput:
    """Output that was read from ``source`` and is still to be written to ``target``."""

    def __init__(self, source: int, target: int) -> None:
        self._source, self._target = source, target
        self._kept = bytearray()
        self._dropped = 0
        self._ended = self._gone = False
        self._changed = threading.Condition()

    def read(self) -> None:
        """Read from the source until its end."""
        while piece := os.read(self._source, _PIECE):
            with self._changed:
                if len(self._kept) + len(piece) > _MAX_KEPT:
                    self._dropped += len(piece)
                elif not self._gone:
                    self._kept += piece
                self._changed.notify()
        with self._changed:
            self._ended = True
            self._changed.notify()

    def write(self) -> None:
        """Write to the target until the end, or until nobody reads it any more."""
        while piece := self._next():
            try:
                while piece:
                    piece = piece[os.write(self._target, piece) :]
            except OSError:  # nobody reads the output any more
                with self._changed:
                    self._gone = True
                    self._kept.clear()
                return

    def _next(self) -> bytes:
        """Return the next piece, or nothing at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._kept or self._dropped or self._ended)
            piece = bytes(self._kept[:_PIECE])
            del self._kept[:_PIECE]
            if not piece and self._dropped:
                told = f"\n[{self._dropped} bytes of output were dropped: nobody read them]\n"
                piece, self._dropped = told.encode(), 0
            return piece
