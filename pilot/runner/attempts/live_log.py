"""What a tool has written so far, put beside its log again and again while it runs, for whoever
follows it."""

import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import structlog

from pilot.runner.redaction import NOTHING, Redaction
from sluice.contracts.logs import LIVE_BYTES, LiveLog, LiveStream
from sluice.storage import StorageError, put_bytes, remove

log = structlog.get_logger(__name__)

#: Seconds that the end of a tool waits for a storage that hangs; what is left there then goes when
#: the logs' data set is closed.
_LONGEST_WAIT = 10.0


@dataclass(slots=True)
class _Run:
    url: str
    streams: Mapping[str, int]
    hide: Redaction
    begun: float = field(default_factory=time.monotonic)
    #: Bytes of the streams when they were last read; None: never.
    read: tuple[int, ...] | None = None


class LiveLogs:
    """One thread for all runs of a slot, one after the other, so that a short run costs next to
    nothing and a storage that hangs keeps nobody from looking after limits. ``period``: seconds
    between two looks, and of a run until the first; 0: none."""

    def __init__(self, period: float) -> None:
        self._period = period
        self._changed = threading.Condition()
        self._run: _Run | None = None
        self._writing = False

    def start(self) -> None:
        if self._period:
            threading.Thread(target=self._work, name="live logs", daemon=True).start()

    @contextmanager
    def following(
        self, url: str, streams: Mapping[str, int], *, hide: Redaction = NOTHING
    ) -> Iterator[None]:
        """While a tool runs. ``streams``: name → descriptor, read within this context alone.
        ``url``: gone afterwards."""
        run = _Run(url, streams, hide)
        with self._changed:
            self._run = run
        try:
            yield
        finally:
            with self._changed:
                self._run = None
                free = self._changed.wait_for(lambda: not self._writing, _LONGEST_WAIT)
            if run.read is not None and free:
                with suppress(StorageError):
                    remove(url)

    def _work(self) -> None:
        while True:
            time.sleep(self._period)
            with self._changed:
                run = self._run
                text = None if run is None else self._text(run)
                self._writing = text is not None
            if run is not None and text is not None:
                self._write(text, run.url)

    def _text(self, run: _Run) -> bytes | None:
        """None: it has not run for long enough, or has written nothing since."""
        if time.monotonic() < run.begun + self._period:
            return None
        try:
            sizes = tuple(os.fstat(stream).st_size for stream in run.streams.values())
            if sizes == (run.read or (0,) * len(sizes)):
                return None
            streams = {
                name: _end_of(stream, size, run.hide)
                for (name, stream), size in zip(run.streams.items(), sizes, strict=True)
            }
        except OSError:
            return None
        run.read = sizes
        return LiveLog(streams=streams).model_dump_json().encode()

    def _write(self, text: bytes, url: str) -> None:
        try:
            put_bytes(text, url)
        except (StorageError, OSError) as error:
            log.warning("live_log.not_written", url=url, reason=str(error))
        finally:
            with self._changed:
                self._writing = False
                self._changed.notify_all()


def _end_of(stream: int, size: int, hide: Redaction) -> LiveStream:
    start = max(0, size - LIVE_BYTES)
    return LiveStream(start=start, data=hide.read_in_place(stream, start, size))
