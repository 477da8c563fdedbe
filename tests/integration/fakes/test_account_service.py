"""The fake account service of the tests of authentication answers as the operator service."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx
import pytest
import pytest_asyncio

from sluice.contracts.access.access import Role
from sluice.contracts.access.people import TokenHolder
from sluice.servicekit.access.people import RemoteAccounts
from sluice.servicekit.access.principal import Person
from tests.conftest import DatabaseFactory
from tests.integration.fakes.two_services import REAL
from tests.integration.operator.conftest import Operator, run_operator
from tests.integration.operator.identity.accounts import OWN_TOKEN, add_account, create_token
from tests.unit.access.fake_account_service import FakeAccountService

pytestmark = pytest.mark.asyncio(loop_scope="module")

UNKNOWN = "sluice_of-nobody"


@dataclass
class Accounts:
    """One of the two; ``fake`` is None for the real one."""

    remote: RemoteAccounts
    operator: Operator
    fake: FakeAccountService | None

    async def token(self, name: str, role: Role) -> str:
        """Return the token of a new person."""
        if self.fake is not None:
            self.fake.holder = TokenHolder(name=name, role=role)
            return f"sluice_of-{name}"
        await add_account(self.operator, name, role)
        _, token = await create_token(self.operator, Person(name, role))
        return token

    def unknown_token(self) -> str:
        if self.fake is not None:
            self.fake.holder = TokenHolder()
        return UNKNOWN


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def operator(make_module_database: DatabaseFactory) -> AsyncIterator[Operator]:
    url = await make_module_database("wfms.operator.db.migrations")
    async with run_operator(url, admin_token=OWN_TOKEN) as operator:
        operator.links.apps["wfms.operator"] = operator.service.app
        yield operator


@pytest.fixture
def accounts(kind: str, operator: Operator) -> Accounts:
    if kind == REAL:
        return Accounts(RemoteAccounts(operator.links.http("wfms.operator")), operator, None)
    fake = FakeAccountService()
    http = httpx.AsyncClient(transport=httpx.MockTransport(fake), base_url="http://operator")
    return Accounts(RemoteAccounts(http), operator, fake)


@pytest.mark.parametrize("role", [Role.VIEWER, Role.SHIFT])
async def test_token_belongs_to_its_person(accounts: Accounts, role: Role) -> None:
    token = await accounts.token(f"anna-{role}", role)
    assert await accounts.remote.principal(token) == Person(f"anna-{role}", role)


async def test_unknown_token_belongs_to_nobody(accounts: Accounts) -> None:
    assert await accounts.remote.principal(accounts.unknown_token()) is None
