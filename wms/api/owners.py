"""Every request that names a task, a job or a chain: is it one that whoever asks sees?"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sluice.contracts.owners import Visibility
from sluice.contracts.problems import NotFound
from sluice.servicekit.database import Database
from wms.db.owners import group_of
from wms.db.status import no_job, no_task
from wms.domain.tokens import MAX_ID
from wms.usecases.read_timeline import no_task_of_chain


@dataclass(frozen=True, slots=True)
class _OwnedKind:
    """``begin``: of addresses, which name a ``kind`` in ``part``. ``missing``: what is said where
    there is none."""

    begin: str
    kind: str
    part: str
    read: Callable[[str], Any]
    missing: Callable[[Any], NotFound]


_NAMED = (
    _OwnedKind("/api/v1/tasks/{uid}", "task", "uid", UUID, no_task),
    _OwnedKind("/api/v1/jobs/{job_id}", "job", "job_id", int, no_job),
    _OwnedKind("/api/v1/chains/{uid}", "chain", "uid", UUID, no_task_of_chain),
)


class TaskOwners:
    """An ``OwnersGuard``. Pilots, sites and limits are nobody's."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def require(
        self, visibility: Visibility, address: str, path: Mapping[str, str], *, changes: bool
    ) -> None:
        """Raises ``NotFound``."""
        for named in _NAMED:
            if address.startswith(named.begin):
                await self._require(visibility, named, path[named.part])

    async def _require(self, visibility: Visibility, named: _OwnedKind, given: str) -> None:
        try:
            key = named.read(given)
        except ValueError:  # the route says what is wrong with it
            return
        if isinstance(key, int) and not 1 <= key <= MAX_ID:
            return
        async with self._database.connection() as connection:
            group = await group_of(connection, named.kind, key)
        if group is None or not visibility.is_member(group):
            raise named.missing(key)
