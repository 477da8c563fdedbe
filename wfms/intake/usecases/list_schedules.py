"""List the schedules of templates."""

from sluice.contracts.data.append_only import ScheduleList
from sluice.servicekit.database import Database
from wfms.intake.db import schedules


async def list_schedules(database: Database, template: str | None = None) -> ScheduleList:
    """Return the schedules of all templates, or only of ``template``."""
    async with database.connection() as connection:
        return ScheduleList(schedules=await schedules.list_schedules(connection, template))
