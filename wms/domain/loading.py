"""What a policy is told of production: which of the tools that stay loaded a pilot that asks is to
work with."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from wms.domain.matching import SWITCH, Demand
from wms.domain.placement import Kind, Place, Policy

#: Seconds that a tool takes to load, where nobody has loaded it yet.
UNKNOWN_LOADING = 1.0


@dataclass(frozen=True, slots=True)
class KindFacts:
    """Of a kind of tool that stays loaded, in seconds; 0: nothing is known. ``mean`` of its jobs;
    ``after``: work of the steps after it; ``loading`` it. ``serving``: how often it is loaded."""

    mean: float = 0.0
    after: float = 0.0
    loading: float = 0.0
    serving: int = 0


def preferred_kinds(
    policy: Policy,
    demands: Iterable[Demand],
    loaded: Collection[str],
    facts: Mapping[str, KindFacts],
) -> frozenset[str]:
    """Kinds whose jobs the pilot is to have before those of others. ``demands``: those whose jobs
    it can run; only those count that no other outranks by ``SWITCH``. ``loaded``: kinds that it
    has.

    The policy is asked for each of these. Where one of them goes on with its own jobs, nothing else
    is loaded.
    """
    first = waiting_kinds(demands)
    names = [*first, *(kind for kind in dict.fromkeys(loaded) if kind not in first)]
    kinds = [kind_of(name, first.get(name, ()), facts.get(name, KindFacts())) for name in names]
    here: list[int | None] = [number for number, name in enumerate(names) if name in loaded]
    answers = {
        number: policy.next_kind(kinds, Place(0, range(len(first)), number), 0.0)
        for number in here or [None]
    }
    stays = [number for number, answer in answers.items() if answer == number]
    chosen = {number for number in stays if number is not None}
    chosen = chosen or {answer for answer in answers.values() if answer is not None}
    if not chosen and policy.every is not None:
        # It has nothing to do, and need not wait for the next round.
        idle = Place(0, range(len(first)), here[0] if here else None)
        chosen = {move.kind for move in policy.moves(kinds, [idle], 0.0)}
    return frozenset(names[number] for number in chosen)


def without_priorities(demands: Iterable[Demand]) -> list[Demand]:
    """Return the demands, those of tools that stay loaded with ranks that leave out administrators'
    priorities."""
    return [
        demand if demand.needs.warm is None else replace(demand, rank=demand.rank - demand.priority)
        for demand in demands
    ]


def waiting_kinds(demands: Iterable[Demand]) -> dict[str, list[Demand]]:
    """Of the tools that stay loaded, those that jobs wait for which no others outrank."""
    warm = [
        (demand.needs.warm.kind, demand)
        for demand in demands
        if demand.needs.warm is not None and demand.needs.warm.kind is not None
    ]
    least = max((demand.rank for _, demand in warm), default=0.0) - SWITCH
    found: dict[str, list[Demand]] = {}
    for kind, demand in warm:
        if demand.rank >= least:
            found.setdefault(kind, []).append(demand)
    return found


def kind_of(name: str, demands: Sequence[Demand], facts: KindFacts) -> Kind:
    """As it is at the moment 0. A pilot that loads a tool has its first job already, so that none
    that waits is kept for it."""
    return Kind(
        name,
        loading=facts.loading or UNKNOWN_LOADING,
        priority=max((demand.priority for demand in demands), default=0.0),
        mean=facts.mean,
        after=facts.after,
        ready=sum(demand.ready for demand in demands),
        serving=facts.serving,
        since=-max((demand.waited for demand in demands), default=0.0) if demands else None,
    )
