"""The stored schedule of the intake."""

from datetime import datetime

from tests.integration.wfms.wfms_fixture import WfmsFixture


async def read_schedule(wfms: WfmsFixture) -> tuple[datetime | None, str]:
    (row,) = await wfms.fetch_rows(
        "wfms.intake", "SELECT last_at, came_of_it AS outcome FROM schedules"
    )
    return row["last_at"], row["outcome"]
