"""Progress of the work, seen from the databases: when something changed, and the longest pause."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import asyncpg

from sluice.contracts.common.states import ReplicaState

#: Errors of a lost connection; the last one is raised if it is lost within an answer.
_CONNECTION_ERRORS = (
    OSError,
    TimeoutError,
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
)

#: Seconds between two queries.
_PERIOD = 0.25
_ANSWER_LIMIT = 5.0

#: Service → a query for a number that grows with its progress.
_COUNTS = {
    "dms": (
        f"""
        SELECT (SELECT count(*) FROM dataset_files)
            + (SELECT count(*) FROM replicas WHERE state = '{ReplicaState.DELETED}')
            + (SELECT count(registered_at) + count(closed_at) + count(uploaded_at)
                + count(deleted_at) FROM datasets)"""  # noqa: S608 - an enum's member
    ),
    "wms": (
        """
        SELECT (SELECT count(*) FROM attempts) + (SELECT coalesce(sum(total), 0) FROM tasks)
            + (SELECT count(created_at) + count(ended_at) FROM tasks)"""
    ),
    "chains": (
        """
        SELECT (SELECT count(*) + count(ended_at) FROM chains)
            + (SELECT count(started_at) + count(ended_at) FROM steps)
            + (SELECT count(*) + count(watched_at) + count(uploaded_at) FROM datasets)
            + (SELECT count(released_at) + count(handed_over_at) FROM datasets)"""
    ),
    "watcher": (
        "SELECT (SELECT count(*) + count(ended_at) FROM watches) + (SELECT count(*) FROM releases)"
    ),
}
_ENDED = "SELECT count(ended_at) FROM chains"


@dataclass
class Progress:
    """``changes`` are the times of changes in seconds since the start; ``ended_chains``
    counts ended chains.
    """

    databases: Mapping[str, str]
    began: float = field(default_factory=time.monotonic)
    changes: list[float] = field(default_factory=lambda: [0.0])
    ended_chains: int = 0
    _last_counts: dict[str, int] = field(default_factory=dict)
    _has_counted_chains: asyncio.Event = field(default_factory=asyncio.Event)

    def now(self) -> float:
        return time.monotonic() - self.began

    async def watch(self, chains: int) -> None:
        """Watch until so many chains have ended."""
        async with asyncio.TaskGroup() as group:
            watching = [group.create_task(self._watch_database(service)) for service in _COUNTS]
            while self.ended_chains < chains:
                self._has_counted_chains.clear()
                await self._has_counted_chains.wait()
            for task in watching:
                task.cancel()

    def find_next_change(self, after: float) -> float | None:
        """Return the seconds from ``after`` to the next change."""
        return next((move - after for move in self.changes if move > after), None)

    def find_longest_pause(self) -> tuple[float, float]:
        """Return begin and length of the longest pause between the first and the last change."""
        gaps = [
            (later - earlier, earlier)
            for earlier, later in zip(self.changes, self.changes[1:], strict=False)
        ]
        longest, at = max(gaps, default=(0.0, 0.0))
        return at, longest

    async def _watch_database(self, service: str) -> None:
        while True:
            try:
                await self._follow_database(service)
            except _CONNECTION_ERRORS:
                # The database is another process, which has no event for its return.
                await asyncio.sleep(_PERIOD)

    async def _follow_database(self, service: str) -> None:
        connection = await asyncpg.connect(
            self.databases[service], timeout=_ANSWER_LIMIT, command_timeout=_ANSWER_LIMIT
        )
        try:
            while True:
                count = await connection.fetchval(_COUNTS[service])
                if count != self._last_counts.get(service):
                    self._last_counts[service] = count
                    self.changes.append(self.now())
                if service == "chains":
                    self.ended_chains = await connection.fetchval(_ENDED)
                    self._has_counted_chains.set()
                # Progress is measured with this resolution.
                await asyncio.sleep(_PERIOD)
        finally:
            connection.terminate()
