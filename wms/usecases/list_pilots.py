"""Shows the pilots."""

from typing import Any

from sluice.contracts.attention import Acknowledgement
from sluice.contracts.pilots import Pilot
from wms.db.pilots import SELECT_PILOTS
from wms.usecases.workload import Workload


async def list_pilots(workload: Workload, *, name: str | None = None) -> list[Pilot]:
    """``name``: only those called so. Precondition: none. Effect: none. Messages: none. Those that signed off are shown for a
    day, and so are lost ones that somebody has acknowledged or that were started again."""
    async with workload.database.connection() as connection:
        rows = await connection.fetch(SELECT_PILOTS)
    return [_pilot(dict(row)) for row in rows if name in {None, row["name"]}]


def _pilot(row: dict[str, Any]) -> Pilot:
    by, at = row.pop("acknowledged_by"), row.pop("acknowledged_at")
    return Pilot(**row, acknowledged=None if at is None else Acknowledgement(by=by, at=at))
