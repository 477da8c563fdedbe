"""Placement policies by name, for production and for simulations."""

from typing import assert_never

from sluice.contracts.jobs.simulation import PolicyName
from wms.domain.placement.policy import Policy
from wms.domain.placement.reward_rate import RewardRate
from wms.domain.placement.watchdog import Watchdog


def create_policy(name: PolicyName, *, every: float | None = None) -> Policy:
    """Return the policy called ``name``.

    Args:
        name: Its name.
        every: Seconds between its rounds; None for its own default. Policies without rounds ignore
            it.
    """
    match name:
        case PolicyName.SLUICE:
            return RewardRate()
        case PolicyName.WATCHDOG:
            return Watchdog() if every is None else Watchdog(every)
        case _:
            assert_never(name)
