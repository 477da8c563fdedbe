"""Fair share: where several groups have work for the same nodes, the one that has less than its
share of them goes first.

    rank' = rank + S · (w(g) / Σ w − f(g) / Σ f)

over the groups that have work: ``w`` their weights, ``f`` how many jobs of theirs pilots have now.
What a group gains is 0 where it has its share, and for all together; with one group nothing is
changed. A group that has nothing to do leaves its share to the others, and nobody saves any up
(max-min fairness of what is in use, as fair schedulers of clusters have it). S = 2: of two groups
of one weight, one that has all slots stands one rank lower, and the other one higher. No two gains
differ by more than 2·S: a rank that is higher by 4 goes before all fairness, as one that the shift
gives.
"""

from collections.abc import Collection, Mapping

from sluice.contracts.groups import USUAL_WEIGHT

S = 2.0


def gains(
    in_flight: Mapping[str, int], weights: Mapping[str, float], wanting: Collection[str]
) -> dict[str, float]:
    """What the ranks of each group that is ``wanting`` gain. ``in_flight``: jobs that pilots have,
    by group; ``weights``: the usual one where none is given."""
    taking_part = {*wanting, *(group for group, jobs in in_flight.items() if jobs > 0)}
    if len(taking_part) < 2:
        return dict.fromkeys(wanting, 0.0)
    weight = {group: weights.get(group, USUAL_WEIGHT) for group in taking_part}
    in_all, jobs = sum(weight.values()), sum(in_flight.get(group, 0) for group in taking_part)
    return {
        group: S * (weight[group] / in_all - in_flight.get(group, 0) / jobs) if jobs else 0.0
        for group in wanting
    }
