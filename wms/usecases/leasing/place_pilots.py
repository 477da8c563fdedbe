"""Run one round of a placement policy: tell pilots which warm worker to load next."""

from dataclasses import dataclass, replace
from datetime import timedelta

import structlog

from sluice.contracts.jobs.warm_workers import LoadState
from wms.db.pilots.placements import (
    PlacedPilot,
    begin_round,
    clear_placements,
    list_pilots_to_place,
    place_pilot,
)
from wms.db.tasks.tasks import list_demands
from wms.domain.placement.loading import (
    KindFacts,
    build_kind,
    group_waiting_kinds,
    subtract_priorities,
)
from wms.domain.placement.policy import Kind, WarmSlot
from wms.domain.scheduling.matching import Demand, filter_runnable
from wms.usecases.context import WmsContext
from wms.usecases.leasing.kind_facts import get_kind_facts

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Round:
    """The input of the policy.

    Attributes:
        owners: The pilots of the slots.
    """

    kinds: list[Kind]
    slots: list[WarmSlot]
    owners: list[PlacedPilot]


async def place_pilots(context: WmsContext, *, period: float) -> int:
    """Run one round of the policy, in one instance of the WMS.

    Args:
        context: The context of the WMS.
        period: Seconds between two rounds that move pilots.

    Returns:
        The number of pilots that were told to load another kind.
    """
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        if not await begin_round(connection, period=timedelta(seconds=0.9 * period)):
            return 0
        await clear_placements(connection)
        demands = subtract_priorities(await list_demands(connection))
        pilots = await list_pilots_to_place(connection)
        facts = await get_kind_facts(connection)
        round_input = _build_round(demands, pilots, facts)
        moves = context.policy.moves(round_input.kinds, round_input.slots, 0.0)
        for move in moves:
            pilot, kind = round_input.owners[move.slot], round_input.kinds[move.kind]
            await place_pilot(connection, pilot.uid, kind.name)
            log.info("pilot.placed", pilot=str(pilot.uid), kind=kind.name)
    return len(moves)


def _build_round(
    demands: list[Demand], pilots: list[PlacedPilot], facts: dict[str, KindFacts]
) -> _Round:
    """Describe production to the policy, at time 0.

    Pilots that still have to load a kind count for it and are not moved again.
    """
    waiting = group_waiting_kinds(demands)
    placed_pilots = [pilot for pilot in pilots if pilot.placed_kind is not None]
    for pilot in placed_pilots:
        kind = str(pilot.placed_kind)
        kind_facts = facts.get(kind, KindFacts())
        facts[kind] = replace(kind_facts, assigned_slots=kind_facts.assigned_slots + 1)
    ready = [pilot for pilot in pilots if pilot.placed_kind is None]
    names = [*waiting]
    names += dict.fromkeys(
        tool.kind for pilot in ready for tool in pilot.loaded if tool.kind not in waiting
    )
    kinds = [
        build_kind(name, waiting.get(name, ()), facts.get(name, KindFacts())) for name in names
    ]
    slots: list[WarmSlot] = []
    owners: list[PlacedPilot] = []
    for pilot in ready:
        runnable_kinds = group_waiting_kinds(filter_runnable(demands, pilot.node))
        suitable_kinds = [number for number, name in enumerate(names) if name in runnable_kinds]
        for tool in pilot.loaded:
            slot = WarmSlot(
                len(slots),
                suitable_kinds,
                names.index(tool.kind),
                tool.since.timestamp() - pilot.now,
                tool.state is LoadState.IDLE,
            )
            slots.append(slot)
            owners.append(pilot)
    return _Round(kinds, slots, owners)
