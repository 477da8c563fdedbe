"""Let the placement policy choose the warm workers that a pilot should use."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from sluice.servicekit.database import Connection
from wms.db.pilots.loaded_kinds import ActiveStep, KindUsage, live_steps, loaded_kinds
from wms.db.pilots.worker_times import KnownTimes, WorkKind, times_of
from wms.domain.placement.loading import KindFacts, preferred_kinds, waiting_kinds
from wms.domain.scheduling.matching import Demand
from wms.domain.scheduling.worker_times import of_all
from wms.usecases.context import WmsContext


async def choose_kinds(
    context: WmsContext,
    connection: Connection,
    demands: Sequence[Demand],
    loaded: Collection[str],
    *,
    placed: str | None = None,
) -> Collection[str]:
    """Return the kinds whose jobs a pilot gets before those of others.

    Args:
        context: The context of the WMS. A kind that the pilot is to load counts as loaded for the
            next requests.
        connection: To read the facts about kinds, at most once a second.
        demands: Tasks whose jobs the pilot can run.
        loaded: Kinds that the pilot has loaded.
        placed: The kind that a round of the policy has told it to load.
    """
    waiting = waiting_kinds(demands)
    if placed is not None and placed in waiting:
        return {placed}
    if len(waiting) < 2:
        return loaded
    facts = await context.kinds.get(None, lambda: look_at_kinds(connection))
    chosen = preferred_kinds(context.policy, demands, loaded, facts)
    for kind in chosen.difference(loaded):
        known = facts.get(kind, KindFacts())
        facts[kind] = replace(known, serving=known.serving + 1)
    return chosen


async def look_at_kinds(connection: Connection) -> dict[str, KindFacts]:
    """Return the facts about each kind of warm worker, by kind."""
    steps = await live_steps(connection)
    times = await times_of(connection, {step.work for step in steps})
    return facts_of(steps, times, await loaded_kinds(connection))


def facts_of(
    steps: Sequence[ActiveStep], times: KnownTimes, loaded: Mapping[str, KindUsage]
) -> dict[str, KindFacts]:
    """Return the facts about each kind, by kind."""
    seconds = {step.work: _mean(times, step) for step in steps}
    by_kind: dict[str, list[ActiveStep]] = defaultdict(list)
    for step in steps:
        if step.kind is not None:
            by_kind[step.kind].append(step)
    found = {}
    for kind in by_kind.keys() | loaded.keys():
        own = by_kind[kind]
        known = [seconds[step.work] for step in own if seconds[step.work]]
        there = loaded.get(kind, KindUsage(0, 0.0))
        found[kind] = KindFacts(
            fmean(known) if known else 0.0,
            fmean(_after(step, steps, seconds) for step in own) if own else 0.0,
            there.loading,
            there.serving,
        )
    return found


def _mean(times: KnownTimes, step: ActiveStep) -> float:
    """Return the seconds of a job of the step on any worker; 0 if unknown."""
    known = of_all(times.get(step.work, {}).values())
    return 0.0 if known is None else known.typical


def _after(
    step: ActiveStep, steps: Sequence[ActiveStep], seconds: Mapping[WorkKind, float]
) -> float:
    """Return the seconds of the later live steps of its template."""
    later = {
        other.work
        for other in steps
        if other.work.template == step.work.template and other.depth > step.depth
    }
    return sum(seconds[work] for work in later)
