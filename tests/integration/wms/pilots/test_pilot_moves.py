"""Events of pilots make exactly the transitions of their life cycle."""

from collections.abc import Awaitable, Callable
from itertools import product
from uuid import UUID

import pytest
from asyncpg import CheckViolationError

from sluice.contracts.common.states import PilotState
from tests.integration.wms.pilots.pilot_events import is_silent, registers, signs_off
from tests.integration.wms.wms_fixture import WmsFixture
from wms.domain.transitions import PILOT_MOVES
from wms.usecases.pilots.drain_pilot import drain_pilot

Event = Callable[[WmsFixture, UUID], Awaitable[object]]


async def is_drained(wms: WmsFixture, uid: UUID) -> None:
    await drain_pilot(wms.context, uid)


async def is_heard_of(wms: WmsFixture, uid: UUID) -> None:
    await wms.send_heartbeat(uid)


async def asks_for_jobs(wms: WmsFixture, uid: UUID) -> None:
    await wms.lease(uid)


EVENTS: list[Event] = [
    registers,
    is_drained,
    signs_off,
    is_heard_of,
    asks_for_jobs,
    is_silent,
]
#: Events that bring a new pilot into a state. A lost pilot may have been draining before.
EVENTS_TO_STATES: dict[tuple[Event, ...], PilotState] = {
    (): PilotState.ACTIVE,
    (is_drained,): PilotState.DRAINING,
    (is_silent,): PilotState.LOST,
    (is_drained, is_silent): PilotState.LOST,
    (signs_off,): PilotState.GONE,
}


async def state_of(wms: WmsFixture, uid: UUID) -> PilotState:
    async with wms.database.connection() as connection:
        return PilotState(await connection.fetchval("SELECT state FROM pilots WHERE uid = $1", uid))


async def test_events_of_pilots_make_exactly_the_transitions_of_their_life_cycle(
    wms: WmsFixture,
) -> None:
    moves: dict[PilotState, set[PilotState]] = {state: set() for state in PilotState}
    for (way, before), happening in product(EVENTS_TO_STATES.items(), EVENTS):
        pilot = await wms.add_pilot()
        for step in way:
            await step(wms, pilot)
        assert await state_of(wms, pilot) is before
        await happening(wms, pilot)
        after = await state_of(wms, pilot)
        if after is not before:
            moves[before].add(after)
    assert moves == PILOT_MOVES


async def test_illegal_transition_of_a_pilot_is_refused_by_the_database(wms: WmsFixture) -> None:
    pilot = await wms.add_pilot()
    await signs_off(wms, pilot)
    with pytest.raises(CheckViolationError, match="illegal transition in pilots: gone to draining"):
        await wms.execute("UPDATE pilots SET state = $2 WHERE uid = $1", pilot, PilotState.DRAINING)
