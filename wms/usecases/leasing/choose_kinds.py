"""Let the placement policy choose the warm workers that a pilot should use."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from sluice.servicekit.database import Connection
from wms.domain.placement.loading import KindFacts, choose_preferred_kinds, group_waiting_kinds
from wms.domain.scheduling.matching import Demand
from wms.usecases.context import WmsContext
from wms.usecases.leasing.kind_facts import get_kind_facts


async def choose_kinds(
    context: WmsContext,
    connection: Connection,
    demands: Sequence[Demand],
    loaded_kinds: Collection[str],
    *,
    placed_kind: str | None = None,
) -> Collection[str]:
    """Return the kinds whose jobs a pilot gets before those of others.

    Args:
        context: The context of the WMS. A kind that the pilot is to load counts as loaded for the
            next requests.
        connection: To read the facts about kinds, at most once a second.
        demands: Tasks whose jobs the pilot can run.
        loaded_kinds: Kinds that the pilot has loaded.
        placed_kind: The kind that a round of the policy has told it to load.
    """
    waiting = group_waiting_kinds(demands)
    if placed_kind is not None and placed_kind in waiting:
        return {placed_kind}
    if len(waiting) < 2:
        return loaded_kinds
    facts = await context.kinds.get(None, lambda: get_kind_facts(connection))
    chosen = choose_preferred_kinds(context.policy, demands, loaded_kinds, facts)
    for kind in chosen.difference(loaded_kinds):
        kind_facts = facts.get(kind, KindFacts())
        facts[kind] = replace(kind_facts, assigned_slots=kind_facts.assigned_slots + 1)
    return chosen
