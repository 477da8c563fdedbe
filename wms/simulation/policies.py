"""Every policy by its name."""

from typing import assert_never

from sluice.contracts.simulation import PolicyName
from wms.domain.placement import Policy
from wms.domain.reward_rate import RewardRate
from wms.domain.watchdog import Watchdog


def policy_of(name: PolicyName) -> Policy:
    match name:
        case PolicyName.SLUICE:
            return RewardRate()
        case PolicyName.WATCHDOG:
            return Watchdog()
        case _:
            assert_never(name)
