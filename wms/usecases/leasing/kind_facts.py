"""Facts about the kinds of warm workers, for the placement policy."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean

from sluice.servicekit.database import Connection
from wms.db.pilots.loaded_kinds import ActiveStep, KindUsage, list_live_steps, list_loaded_kinds
from wms.db.pilots.pilot_times import TimesByWork, WorkKind, list_times
from wms.domain.placement.loading import KindFacts
from wms.domain.scheduling.pilot_times import combine_times


async def get_kind_facts(connection: Connection) -> dict[str, KindFacts]:
    """Return the facts about each kind of warm worker, by kind."""
    steps = await list_live_steps(connection)
    times = await list_times(connection, {step.work for step in steps})
    return build_kind_facts(steps, times, await list_loaded_kinds(connection))


def build_kind_facts(
    steps: Sequence[ActiveStep], times: TimesByWork, loaded: Mapping[str, KindUsage]
) -> dict[str, KindFacts]:
    """Return the facts about each kind, by kind."""
    seconds = {step.work: _mean_seconds(times, step) for step in steps}
    by_kind: dict[str, list[ActiveStep]] = defaultdict(list)
    for step in steps:
        if step.kind is not None:
            by_kind[step.kind].append(step)
    facts_by_kind = {}
    for kind in by_kind.keys() | loaded.keys():
        own_steps = by_kind[kind]
        job_seconds = [seconds[step.work] for step in own_steps if seconds[step.work]]
        usage = loaded.get(kind, KindUsage(0, 0.0))
        facts_by_kind[kind] = KindFacts(
            fmean(job_seconds) if job_seconds else 0.0,
            fmean(_sum_later_steps(step, steps, seconds) for step in own_steps)
            if own_steps
            else 0.0,
            usage.loading,
            usage.serving,
        )
    return facts_by_kind


def _mean_seconds(times: TimesByWork, step: ActiveStep) -> float:
    """Return the seconds of a job of the step on any pilot; 0 if unknown."""
    overall = combine_times(times.get(step.work, {}).values())
    return 0.0 if overall is None else overall.typical


def _sum_later_steps(
    step: ActiveStep, steps: Sequence[ActiveStep], seconds: Mapping[WorkKind, float]
) -> float:
    """Return the seconds of the later live steps of its template."""
    later = {
        other.work
        for other in steps
        if other.work.template == step.work.template and other.depth > step.depth
    }
    return sum(seconds[work] for work in later)
