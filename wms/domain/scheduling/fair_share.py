"""Fair share: among groups that compete for nodes, one below its share goes first.

    rank' = rank + S · (w(g) / Σ w − f(g) / Σ f)

over the groups that have work: ``w`` their weights, ``f`` the number of their jobs at pilots. A
group that has exactly its share gains 0, and the gains of all these groups add up to 0. A single
group gains nothing.

A group without work leaves its share to the others and does not save it up (max-min fairness of the
current use, as in cluster schedulers).

With S = 2 and two groups of equal weight, a group that has all slots loses one rank and the other
gains one. Two gains differ by at most 2·S. So a rank that is higher by 4, such as a shift may set,
always goes first.
"""

from collections.abc import Collection, Mapping

from sluice.contracts.access.groups import USUAL_WEIGHT

S = 2.0


def compute_gains(
    in_flight: Mapping[str, int], weights: Mapping[str, float], active_groups: Collection[str]
) -> dict[str, float]:
    """Return the gain in rank of each group in ``active_groups``.

    ``in_flight`` are numbers of jobs at pilots, by group. Groups without a weight have the usual
    one.
    """
    taking_part = {*active_groups, *(group for group, jobs in in_flight.items() if jobs > 0)}
    if len(taking_part) < 2:
        return dict.fromkeys(active_groups, 0.0)
    weight = {group: weights.get(group, USUAL_WEIGHT) for group in taking_part}
    total_weight, jobs = sum(weight.values()), sum(in_flight.get(group, 0) for group in taking_part)
    return {
        group: S * (weight[group] / total_weight - in_flight.get(group, 0) / jobs) if jobs else 0.0
        for group in active_groups
    }
