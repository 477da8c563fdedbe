"""Tasks that a chain has."""

from uuid import UUID

from sluice.contracts.common.problems import NotFound
from sluice.servicekit.database import Database
from wfms.chains.db.reading import list_task_page


class NoSuchTask(NotFound):
    """No chain has the task."""

    def __init__(self, uid: UUID) -> None:
        super().__init__(f"no chain has the task {uid}", task=uid)


async def require_task(database: Database, uid: UUID) -> None:
    """Require that a chain has the task.

    Raises:
        NoSuchTask: No chain has the task.
    """
    async with database.connection() as connection:
        if not (await list_task_page(connection, task=uid))[0]:
            raise NoSuchTask(uid)
