"""Has the policy say which of the tools that stay loaded a pilot is to work with."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from sluice.servicekit.database import Connection
from wms.db.loaded_kinds import LiveStep, Loaded, live_steps, loaded_kinds
from wms.db.worker_times import KnownTimes, WorkKind, times_of
from wms.domain.loading import KindFacts, preferred_kinds, waiting_kinds
from wms.domain.matching import Demand
from wms.domain.worker_times import of_all
from wms.usecases.context import WmsContext


async def choose_kinds(
    context: WmsContext,
    connection: Connection,
    demands: Sequence[Demand],
    loaded: Collection[str],
    *,
    placed: str | None = None,
) -> Collection[str]:
    """Return the kinds whose jobs a pilot is to have before those of others.

    Args:
        context: What the WMS works with. What the pilot is to load counts as loaded for those who
            ask next.
        connection: To read what is known of kinds, at most once a second.
        demands: Those whose jobs the pilot can run.
        loaded: Kinds that it has.
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
    """Return what is known of each kind of tool that stays loaded, by kind."""
    steps = await live_steps(connection)
    times = await times_of(connection, {step.work for step in steps})
    return facts_of(steps, times, await loaded_kinds(connection))


def facts_of(
    steps: Sequence[LiveStep], times: KnownTimes, loaded: Mapping[str, Loaded]
) -> dict[str, KindFacts]:
    """By kind."""
    seconds = {step.work: _mean(times, step) for step in steps}
    by_kind: dict[str, list[LiveStep]] = defaultdict(list)
    for step in steps:
        if step.kind is not None:
            by_kind[step.kind].append(step)
    found = {}
    for kind in by_kind.keys() | loaded.keys():
        own = by_kind[kind]
        known = [seconds[step.work] for step in own if seconds[step.work]]
        there = loaded.get(kind, Loaded(0, 0.0))
        found[kind] = KindFacts(
            fmean(known) if known else 0.0,
            fmean(_after(step, steps, seconds) for step in own) if own else 0.0,
            there.loading,
            there.serving,
        )
    return found


def _mean(times: KnownTimes, step: LiveStep) -> float:
    """Seconds of a job, anywhere; 0: nothing is known."""
    known = of_all(times.get(step.work, {}).values())
    return 0.0 if known is None else known.typical


def _after(step: LiveStep, steps: Sequence[LiveStep], seconds: Mapping[WorkKind, float]) -> float:
    """Of the steps that come later in its template, as far as these run."""
    later = {
        other.work
        for other in steps
        if other.work.template == step.work.template and other.depth > step.depth
    }
    return sum(seconds[work] for work in later)
