"""Live logs: the output of a running tool, written beside its log for people who follow it."""

import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Self

import structlog

from pilot.runner.redaction import NO_REDACTION, Redaction
from sluice.contracts.jobs.logs import LIVE_BYTES, LiveLog, LiveStream
from sluice.storage import StorageError, put_bytes, remove
from sluice.text.os_errors import reason_of

log = structlog.get_logger(__name__)

#: Seconds that the end of a tool waits for a storage that hangs. A live log that remains is removed
#: when the data set of the logs is closed.
_MAX_WAIT = 10.0


@dataclass(slots=True)
class _Run:
    url: str
    streams: Mapping[str, int]
    redaction: Redaction
    start_time: float = field(default_factory=time.monotonic)
    #: Sizes of the streams in bytes when they were last read, or None.
    last_sizes: tuple[int, ...] | None = None


class LiveLogs:
    """Writes the live logs of a slot in one thread.

    One thread serves all runs, so that a short run costs almost nothing. A storage that hangs does
    not block the checks of limits. The thread runs while the object is entered as a context.
    ``period`` is the number of seconds between two writes, and before the first; 0 disables live
    logs.
    """

    def __init__(self, period: float) -> None:
        self._period = period
        self._changed = threading.Condition()
        self._run: _Run | None = None
        self._writing = False
        self._ended = threading.Event()

    def __enter__(self) -> Self:
        if self._period:
            threading.Thread(target=self._write_periodically, name="live logs", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()

    @contextmanager
    def follow(
        self, url: str, streams: Mapping[str, int], *, redaction: Redaction = NO_REDACTION
    ) -> Iterator[None]:
        """Write a live log while the context is active, and remove it afterwards.

        ``streams`` maps names to descriptors, which are read within this context only. ``url`` is
        the place of the live log.
        """
        run = _Run(url, streams, redaction)
        with self._changed:
            self._run = run
        try:
            yield
        finally:
            with self._changed:
                self._run = None
                is_idle = self._changed.wait_for(lambda: not self._writing, _MAX_WAIT)
            if run.last_sizes is not None and is_idle:
                with suppress(StorageError):
                    remove(url)

    def _write_periodically(self) -> None:
        while not self._ended.wait(self._period):
            with self._changed:
                run = self._run
                text = None if run is None else self._create_text(run)
                self._writing = text is not None
            if run is not None and text is not None:
                self._write(text, run.url)

    def _create_text(self, run: _Run) -> bytes | None:
        """Return the live log, or None if the run is too short or has written nothing new."""
        if time.monotonic() < run.start_time + self._period:
            return None
        try:
            sizes = tuple(os.fstat(stream).st_size for stream in run.streams.values())
            if sizes == (run.last_sizes or (0,) * len(sizes)):
                return None
            streams = {
                name: _read_end(stream, size, run.redaction)
                for (name, stream), size in zip(run.streams.items(), sizes, strict=True)
            }
        except OSError:
            return None
        run.last_sizes = sizes
        return LiveLog(streams=streams).model_dump_json().encode()

    def _write(self, text: bytes, url: str) -> None:
        try:
            put_bytes(text, url)
        except (StorageError, OSError) as error:
            log.warning("live_log.not_written", url=url, reason=reason_of(error))
        finally:
            with self._changed:
                self._writing = False
                self._changed.notify_all()


def _read_end(stream: int, size: int, redaction: Redaction) -> LiveStream:
    start = max(0, size - LIVE_BYTES)
    return LiveStream(start=start, data=redaction.read_in_place(stream, start, size))
