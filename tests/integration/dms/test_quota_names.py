"""Whom quotas may be set of."""

import pytest

from sluice.contracts.problems import Unprocessable
from sluice.contracts.quotas import HolderKind, Quantity, QuotaHolder, SetQuotaLimits
from tests.integration.dms.conftest import Dms

MOST = SetQuotaLimits(most={Quantity.FILES: 3})


@pytest.mark.parametrize("name", ["A", "a b", "\u0007", ".a"])
async def test_a_group_has_a_name_that_a_group_can_have(dms: Dms, name: str) -> None:
    """Or nobody could list the groups any more."""
    with pytest.raises(Unprocessable, match="the name of a group has small letters"):
        await dms.client.set_most(QuotaHolder(HolderKind.GROUP, name), MOST)
    assert (await dms.client.holdings(HolderKind.GROUP)).holdings == []


async def test_people_are_called_as_their_provider_calls_them(dms: Dms) -> None:
    await dms.client.set_most(QuotaHolder(HolderKind.PERSON, "Ada L."), MOST)
    [held] = (await dms.client.holdings(HolderKind.PERSON)).holdings
    assert held.name == "Ada L."
