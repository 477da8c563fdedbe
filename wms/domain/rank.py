"""Rank of a task: higher runs earlier. Worked out per task, so that a million waiting jobs cost
nothing.

    rank(i+1) = α·aging(i) + β·retries(i) + γ·rank(i)

is applied to what a task has gained over its base (the step's rank, 1 unless the template says
otherwise, or an operator's; and what the WfMS adds for now):

* α = 0.01 for each minute in which none of its ready jobs was given to a pilot (at most a day's),
* β = 0.1 for each attempt that failed, per job of the task (a task in trouble is finished before a
  new one is begun),
* γ = 0.9 of the gain so far, so that a gain fades within minutes once the task is served.

A task that is never served gains 0.1 rank for each minute it has waited, in the long run: it
overtakes fresh tasks of a rank higher by 1 after about a quarter of an hour.
"""

ALPHA = 0.01
BETA = 0.1
GAMMA = 0.9
#: Minutes of waiting beyond which a task gains no more.
AGING_LIMIT = 1440.0


def aging(waited_seconds: float) -> float:
    """Minutes for which ready jobs have waited without one being served."""
    return min(max(waited_seconds, 0.0) / 60.0, AGING_LIMIT)


def retries(failed_attempts: int, total: int) -> float:
    """Failed attempts per job."""
    return failed_attempts / total if total else 0.0


def next_rank(rank: float, base: float, *, aging: float, retries: float) -> float:
    """The formula above; ``base`` is what the rank comes back to."""
    return base + ALPHA * aging + BETA * retries + GAMMA * (rank - base)
