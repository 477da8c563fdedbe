"""Commands of people who have stored tokens."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from sluice.servicekit.access.authentication_setup import protect_with_accounts
from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.web.server import HttpServer
from tests.integration.operator.conftest import operating
from tests.integration.operator.identity.accounts import OWN_TOKEN
from tests.servers import commands


@dataclass(frozen=True)
class User:
    """A person at a machine; ``config_folder`` has stored tokens, ``token`` is a variable."""

    url: str
    config_folder: Path
    token: str = ""

    async def __call__(self, *arguments: str, code: int = 0, answered: str = "") -> str:
        """Return the output of the command; ``answered`` is its standard input."""
        environment = {
            "SLUICE_URL": self.url,
            "PATH": "/usr/bin",
            "XDG_CONFIG_HOME": str(self.config_folder),
            "SLUICE_TOKEN": self.token,
        }
        done = await asyncio.to_thread(
            commands.run, "sluice", *arguments, env=environment, answered=answered
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout + done.stderr


@pytest.fixture
async def admin(database_url: str, tmp_path: Path) -> AsyncIterator[User]:
    async with operating(database_url, admin_token=OWN_TOKEN) as operator:
        account_authentication = operator.service.account_authentication
        assert account_authentication is not None
        app = protect_with_accounts(operator.service.app, [], account_authentication)
        server = HttpServer(app, host="127.0.0.1", port=0)
        async with running(server):
            yield User(f"http://127.0.0.1:{server.port}", tmp_path / "admin", OWN_TOKEN)


@pytest.fixture
def anna(admin: User, tmp_path: Path) -> User:
    return replace(admin, config_folder=tmp_path / "anna", token="")
