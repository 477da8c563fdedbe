"""Events of pilots make exactly the transitions of their life cycle."""

from collections.abc import Awaitable, Callable
from itertools import product
from uuid import UUID

import pytest
from asyncpg import CheckViolationError

from sluice.contracts.common.states import PilotState
from tests.integration.wms.pilots.pilot_events import expire_silent_pilot, register, sign_off
from tests.integration.wms.wms_fixture import WmsFixture
from wms.domain.transitions import PILOT_MOVES
from wms.usecases.pilots.drain_pilot import drain_pilot

Event = Callable[[WmsFixture, UUID], Awaitable[object]]


async def drain(wms: WmsFixture, uid: UUID) -> None:
    await drain_pilot(wms.context, uid)


async def send_heartbeat(wms: WmsFixture, uid: UUID) -> None:
    await wms.send_heartbeat(uid)


async def request_jobs(wms: WmsFixture, uid: UUID) -> None:
    await wms.lease(uid)


EVENTS: list[Event] = [
    register,
    drain,
    sign_off,
    send_heartbeat,
    request_jobs,
    expire_silent_pilot,
]
#: Events that bring a new pilot into a state. A lost pilot may have been draining before.
EVENTS_TO_STATES: dict[tuple[Event, ...], PilotState] = {
    (): PilotState.ACTIVE,
    (drain,): PilotState.DRAINING,
    (expire_silent_pilot,): PilotState.LOST,
    (drain, expire_silent_pilot): PilotState.LOST,
    (sign_off,): PilotState.GONE,
}


async def get_state(wms: WmsFixture, uid: UUID) -> PilotState:
    async with wms.database.connection() as connection:
        return PilotState(await connection.fetchval("SELECT state FROM pilots WHERE uid = $1", uid))


async def test_events_of_pilots_make_exactly_the_transitions_of_their_life_cycle(
    wms: WmsFixture,
) -> None:
    transitions: dict[PilotState, set[PilotState]] = {state: set() for state in PilotState}
    for (events, before), event in product(EVENTS_TO_STATES.items(), EVENTS):
        pilot = await wms.add_pilot()
        for step in events:
            await step(wms, pilot)
        assert await get_state(wms, pilot) is before
        await event(wms, pilot)
        after = await get_state(wms, pilot)
        if after is not before:
            transitions[before].add(after)
    assert transitions == PILOT_MOVES


async def test_illegal_transition_of_a_pilot_is_refused_by_the_database(wms: WmsFixture) -> None:
    pilot = await wms.add_pilot()
    await sign_off(wms, pilot)
    with pytest.raises(CheckViolationError, match="illegal transition in pilots: gone to draining"):
        await wms.execute("UPDATE pilots SET state = $2 WHERE uid = $1", pilot, PilotState.DRAINING)
