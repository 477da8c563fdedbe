"""Administrators add, list and revoke sites of pilots: REST and command."""

from collections.abc import AsyncIterator

import pytest

from sluice.contracts.common.problems import Conflict, NotFound
from sluice.contracts.pilots.sites import SITE_TOKEN_PREFIX, NewSite
from tests.conftest import DatabaseFactory
from tests.integration.operator.conftest import Operator
from tests.integration.operator.real_wms import use_real_wms
from tests.integration.operator.sluice_command import Command


@pytest.fixture(autouse=True)
async def wms(operator: Operator, make_database: DatabaseFactory) -> AsyncIterator[None]:
    async with use_real_wms(operator, make_database):
        yield


async def test_requests_about_sites_are_forwarded_to_the_wms(operator: Operator) -> None:
    answer = await operator.http.post("/api/v1/sites", json={"name": "cern", "most_pilots": 3})
    assert answer.status_code == 201
    assert answer.json()["secret"].startswith(SITE_TOKEN_PREFIX)
    with pytest.raises(Conflict, match="site 'cern' already exists"):
        await operator.client.add_site(NewSite(name="cern"))
    [site] = (await operator.client.list_sites()).sites
    assert (site.name, site.most_pilots, site.revoked_at) == ("cern", 3, None)
    assert (await operator.client.revoke_site("cern")).revoked_at is not None
    with pytest.raises(NotFound, match="there is no site 'cern'"):
        await operator.client.revoke_site("cern")
    refused = await operator.http.post("/api/v1/sites", json={"name": "a/b"})
    assert refused.status_code == 422
    assert refused.json()["findings"]


async def test_commands_add_list_and_revoke_sites(sluice: Command) -> None:
    assert "no site: pilots register with the token" in await sluice("site", "list")
    assert SITE_TOKEN_PREFIX in await sluice("site", "add", "cern", "--pilots", "3")
    assert "cern" in await sluice("site", "list")
    assert "cern was revoked" in await sluice("site", "revoke", "cern", "--yes")
    assert "there is no site 'jinr'" in await sluice("site", "revoke", "jinr", "--yes", code=1)
