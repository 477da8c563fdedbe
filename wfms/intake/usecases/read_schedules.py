"""Read the state of templates' schedules."""

from sluice.contracts.data.append_only import ScheduleList
from sluice.servicekit.database import Database
from wfms.intake.db.schedules import list_schedules


async def read_schedules(database: Database, template: str | None = None) -> ScheduleList:
    """Return the schedules of all templates, or only of ``template``."""
    async with database.connection() as connection:
        return ScheduleList(schedules=await list_schedules(connection, template))
