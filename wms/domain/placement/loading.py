"""Input of a placement policy in production: which warm workers the requesting pilot should use."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from wms.domain.placement.policy import Kind, Policy, WarmSlot
from wms.domain.scheduling.matching import WARM_RANK_BONUS, Demand

#: Seconds to load a tool that no worker has loaded yet.
UNKNOWN_LOADING = 1.0


@dataclass(frozen=True, slots=True)
class KindFacts:
    """The known times of a kind of warm worker, in seconds; 0 if unknown.

    Attributes:
        mean: Mean time of its jobs.
        downstream_seconds: Work of the steps after it.
        loading: Time to load it.
        assigned_slots: Number of slots that have it loaded.
    """

    mean: float = 0.0
    downstream_seconds: float = 0.0
    loading: float = 0.0
    assigned_slots: int = 0


def choose_preferred_kinds(
    policy: Policy,
    demands: Iterable[Demand],
    loaded_kinds: Collection[str],
    facts: Mapping[str, KindFacts],
) -> frozenset[str]:
    """Return the kinds whose jobs the pilot gets before those of others.

    The policy is asked for each kind that the pilot has loaded. If it continues with one of them,
    nothing else is loaded.

    Args:
        policy: The placement policy.
        demands: Tasks whose jobs the pilot can run. Only those count that no other outranks by more
            than ``WARM_RANK_BONUS``.
        loaded_kinds: Kinds that the pilot has loaded.
        facts: The known times of the kinds.
    """
    waiting = group_waiting_kinds(demands)
    names = [*waiting, *(kind for kind in dict.fromkeys(loaded_kinds) if kind not in waiting)]
    kinds = [
        build_kind(name, waiting.get(name, ()), facts.get(name, KindFacts())) for name in names
    ]
    loaded_numbers: list[int | None] = [
        number for number, name in enumerate(names) if name in loaded_kinds
    ]
    choices = {
        number: policy.next_kind(kinds, WarmSlot(0, range(len(waiting)), number), 0.0)
        for number in loaded_numbers or [None]
    }
    stays = [number for number, answer in choices.items() if answer == number]
    chosen = {number for number in stays if number is not None}
    chosen = chosen or {answer for answer in choices.values() if answer is not None}
    if not chosen and policy.every is not None:
        # The pilot is idle and need not wait for the next round.
        idle = WarmSlot(0, range(len(waiting)), loaded_numbers[0] if loaded_numbers else None)
        chosen = {move.kind for move in policy.moves(kinds, [idle], 0.0)}
    return frozenset(names[number] for number in chosen)


def subtract_priorities(demands: Iterable[Demand]) -> list[Demand]:
    """Return the demands, with ranks of warm workers' tasks that leave out step priorities."""
    return [
        demand if demand.needs.warm is None else replace(demand, rank=demand.rank - demand.priority)
        for demand in demands
    ]


def group_waiting_kinds(demands: Iterable[Demand]) -> dict[str, list[Demand]]:
    """Return the kinds of warm workers with ready jobs, without those that others outrank.

    A difference of at most ``WARM_RANK_BONUS`` does not count.
    """
    warm = [
        (demand.needs.warm.kind, demand)
        for demand in demands
        if demand.needs.warm is not None and demand.needs.warm.kind is not None
    ]
    min_rank = max((demand.rank for _, demand in warm), default=0.0) - WARM_RANK_BONUS
    demands_by_kind: dict[str, list[Demand]] = {}
    for kind, demand in warm:
        if demand.rank >= min_rank:
            demands_by_kind.setdefault(kind, []).append(demand)
    return demands_by_kind


def build_kind(name: str, demands: Sequence[Demand], facts: KindFacts) -> Kind:
    """Return the kind at time 0 for the policy.

    No job is reserved for a pilot that is loading the tool, because it has its first job already.
    """
    return Kind(
        name,
        loading=facts.loading or UNKNOWN_LOADING,
        priority=max((demand.priority for demand in demands), default=0.0),
        mean=facts.mean,
        downstream_seconds=facts.downstream_seconds,
        ready=sum(demand.ready for demand in demands),
        assigned_slots=facts.assigned_slots,
        oldest_ready_at=-max((demand.waited for demand in demands), default=0.0)
        if demands
        else None,
    )
