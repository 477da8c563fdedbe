"""Reads how far schedules of templates are."""

from sluice.contracts.standing import ScheduleList
from sluice.servicekit.database import Database
from wfms.intake.db.schedules import list_schedules


async def read_schedules(database: Database, template: str | None = None) -> ScheduleList:
    """``template``: of this one alone. Effect: none. Errors: none."""
    async with database.connection() as connection:
        return ScheduleList(schedules=await list_schedules(connection, template))
