"""The ranks of tasks."""

from sluice.contracts.jobs.tasks import MAX_RANK


def add_ranks(of_step: float, of_chain: float) -> float:
    """Return the rank of a task from the ranks of its step and chain."""
    return min(of_step + of_chain, MAX_RANK)
