"""The check that a principal sees the task, job or chain that a request names."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sluice.contracts.access.owners import Visibility
from sluice.contracts.common.problems import NotFound
from sluice.servicekit.database import Database
from wms.db.tasks.owners import find_group
from wms.db.tasks.status import no_job, no_task
from wms.domain.tokens import MAX_ID
from wms.usecases.times.get_timeline import create_no_task_of_chain


@dataclass(frozen=True, slots=True)
class _OwnedKind:
    """A kind of object that paths name.

    Attributes:
        begin: How the path templates of its routes begin.
        kind: The kind, as ``find_group`` takes it.
        part: The path parameter that has its id.
        read: Parses the id.
        missing: Creates the error for an object that does not exist or is not visible.
    """

    begin: str
    kind: str
    part: str
    read: Callable[[str], Any]
    missing: Callable[[Any], NotFound]


_KINDS = (
    _OwnedKind("/api/v1/tasks/{uid}", "task", "uid", UUID, no_task),
    _OwnedKind("/api/v1/jobs/{job}", "job", "job", int, no_job),
    _OwnedKind("/api/v1/chains/{uid}", "chain", "uid", UUID, create_no_task_of_chain),
)


class TaskOwners:
    """The ``OwnersGuard`` of tasks, jobs and chains.

    Pilots, sites and limits have no owners.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def require(
        self, visibility: Visibility, address: str, path: Mapping[str, str], *, changes: bool
    ) -> None:
        """Check that the principal sees the task, job or chain of the request.

        Raises:
            NotFound: The object does not exist or is not visible.
        """
        for owned_kind in _KINDS:
            if address.startswith(owned_kind.begin):
                await self._require(visibility, owned_kind, path[owned_kind.part])

    async def _require(self, visibility: Visibility, owned_kind: _OwnedKind, text: str) -> None:
        try:
            key = owned_kind.read(text)
        except ValueError:  # the route reports the invalid id
            return
        if isinstance(key, int) and not 1 <= key <= MAX_ID:
            return
        async with self._database.connection() as connection:
            group = await find_group(connection, owned_kind.kind, key)
        if group is None or not visibility.is_member(group):
            raise owned_kind.missing(key)
