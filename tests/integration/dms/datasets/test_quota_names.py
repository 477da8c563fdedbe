"""Quotas are set for groups and people with valid names."""

import pytest

from sluice.contracts.access.quotas import HolderKind, Quantity, SetQuotaLimits
from sluice.contracts.common.problems import Unprocessable
from tests.integration.dms.conftest import Dms

QUOTA_LIMITS = SetQuotaLimits(most={Quantity.FILES: 3})


@pytest.mark.parametrize("name", ["A", "a b", "\u0007", ".a"])
async def test_quota_of_a_group_needs_a_valid_group_name(dms: Dms, name: str) -> None:
    """With an invalid name, nobody could list the groups any more."""
    with pytest.raises(Unprocessable, match="the name of a group has small letters"):
        await dms.client.set_quota_limits(HolderKind.GROUP, name, QUOTA_LIMITS)
    assert (await dms.client.list_holdings(HolderKind.GROUP)).holdings == []


async def test_quota_of_a_person_takes_the_name_of_the_identity_provider(dms: Dms) -> None:
    await dms.client.set_quota_limits(HolderKind.PERSON, "Ada L.", QUOTA_LIMITS)
    [holding] = (await dms.client.list_holdings(HolderKind.PERSON)).holdings
    assert holding.name == "Ada L."
