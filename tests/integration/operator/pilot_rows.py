"""The WMS's pilots as the operator sees them."""

from collections.abc import Callable
from datetime import UTC, datetime
from uuid import UUID

from fastapi import APIRouter

from sluice.contracts.attention import Acknowledge, Acknowledgement
from sluice.contracts.pilots import Pilot, PilotList
from sluice.contracts.problems import NotFound
from sluice.contracts.states import PilotState


def pilot_routes(pilots: list[Pilot], *, paged: Callable[[], bool]) -> APIRouter:
    """``paged``: the WMS is not of the release before, which gives all."""
    router = APIRouter(prefix="/api/v1/pilots")

    @router.get("")
    async def list_pilots(attention: bool = False, limit: int | None = None) -> PilotList:
        if limit is None or not paged():
            return PilotList(pilots=pilots)
        lost = [
            pilot for pilot in pilots if pilot.state is PilotState.LOST and not pilot.acknowledged
        ]
        present = [
            pilot for pilot in pilots if pilot.state in {PilotState.ACTIVE, PilotState.DRAINING}
        ]
        found = (
            lost
            if attention
            else [*present, *lost, *(pilot for pilot in pilots if pilot not in [*present, *lost])]
        )
        return PilotList(
            pilots=found[:limit], next="there" if len(found) > limit else None, total=len(found)
        )

    @router.post("/{uid}/acknowledge", status_code=204)
    async def acknowledge(uid: UUID, asked: Acknowledge) -> None:
        place = next((place for place, pilot in enumerate(pilots) if pilot.uid == uid), None)
        if place is None:
            raise NotFound(f"there is no pilot {uid}")
        seen = Acknowledgement(by=asked.by, at=datetime.now(UTC))
        pilots[place] = pilots[place].model_copy(update={"acknowledged": seen})

    return router
