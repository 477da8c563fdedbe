"""An operator service with accounts, commands of two people, and an OpenID provider."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sluice.servicekit.access.authentication_setup import protect_with_accounts
from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.web.server import HttpServer
from tests.integration.operator.conftest import Operator, run_operator
from tests.integration.operator.identity.accounts import OWN_TOKEN
from tests.integration.operator.identity.openid_provider import Provider, open_provider
from tests.integration.operator.identity.user_commands import User


@pytest.fixture
async def operator(database_url: str) -> AsyncIterator[Operator]:
    async with run_operator(database_url, admin_token=OWN_TOKEN) as operator:
        operator.links.apps["wfms.operator"] = operator.service.app
        yield operator


@pytest.fixture
async def admin(database_url: str, tmp_path: Path) -> AsyncIterator[User]:
    async with run_operator(database_url, admin_token=OWN_TOKEN) as operator:
        account_authentication = operator.service.account_authentication
        assert account_authentication is not None
        app = protect_with_accounts(operator.service.app, [], account_authentication)
        server = HttpServer(app, host="127.0.0.1", port=0)
        async with running(server):
            yield User(f"http://127.0.0.1:{server.port}", tmp_path / "admin", OWN_TOKEN)


@pytest.fixture
def anna(admin: User, tmp_path: Path) -> User:
    return replace(admin, config_folder=tmp_path / "anna", token="")


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with open_provider() as provider:
        yield provider
