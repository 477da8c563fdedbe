"""Output that never blocks, so that a pager, Ctrl-S or a full pipe cannot stop the system."""

import os
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

#: Bytes that are buffered for a slow reader. Further output is dropped and counted.
_MAX_BUFFER = 1024 * 1024
#: Bytes that are read or written at once.
_CHUNK = 65_536
#: Seconds for the reader at the end.
_END_TIMEOUT = 1.0


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
    buffer = _OutputBuffer(source, target)
    threads = [
        threading.Thread(target=work, daemon=True, name="output")
        for work in (buffer.read, buffer.write)
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        # Removes the pipe's last writer, so that the first thread sees the end.
        os.dup2(target, descriptor)
        for thread in threads:
            thread.join(_END_TIMEOUT)


class _OutputBuffer:
    """Output that was read from ``source`` and is still to be written to ``target``."""

    def __init__(self, source: int, target: int) -> None:
        self._source, self._target = source, target
        self._buffer = bytearray()
        self._dropped_bytes = 0
        self._ended = self._has_no_reader = False
        self._changed = threading.Condition()

    def read(self) -> None:
        """Read from the source until its end."""
        while piece := os.read(self._source, _CHUNK):
            with self._changed:
                if len(self._buffer) + len(piece) > _MAX_BUFFER:
                    self._dropped_bytes += len(piece)
                elif not self._has_no_reader:
                    self._buffer += piece
                self._changed.notify()
        with self._changed:
            self._ended = True
            self._changed.notify()

    def write(self) -> None:
        """Write to the target until the end, or until it is no longer read."""
        while piece := self._next():
            try:
                while piece:
                    piece = piece[os.write(self._target, piece) :]
            except OSError:  # the output is no longer read
                with self._changed:
                    self._has_no_reader = True
                    self._buffer.clear()
                return

    def _next(self) -> bytes:
        """Return the next piece, or nothing at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._buffer or self._dropped_bytes or self._ended)
            piece = bytes(self._buffer[:_CHUNK])
            del self._buffer[:_CHUNK]
            if not piece and self._dropped_bytes:
                notice = (
                    f"\n[{self._dropped_bytes} bytes of output were dropped: they were not read]\n"
                )
                piece, self._dropped_bytes = notice.encode(), 0
            return piece
