import asyncio
import uuid
from collections.abc import Callable, Iterator

import pytest

from sluice.contracts.access.services import SERVICES
from sluice.setup.logins import ServiceLogin
from tests.integration.setup.broker_logins import Broker
from tests.servers.network_postgres import NetworkPostgres, make_network_postgres
from tests.servers.rabbitmq import RabbitServer

Logins = Callable[..., list[ServiceLogin]]


@pytest.fixture(scope="session")
def postgres() -> Iterator[NetworkPostgres]:
    """A running server with passwords. Each test uses names of its own."""
    server = make_network_postgres()
    asyncio.run(server.start())
    yield server
    asyncio.run(server.remove())


@pytest.fixture
def logins() -> Logins:
    """Return a function that gives each service a login whose name needs quoting.

    ``words`` is a part of all passwords.
    """
    tag = uuid.uuid4().hex[:6]

    def make(words: str = "p'a\"ss:word") -> list[ServiceLogin]:
        return [
            ServiceLogin(
                service,
                f"{service} {tag}",
                f"{words} of {service}",
                f"{service} data {tag}",
                f"SETTING_OF_{service}",
            )
            for service in SERVICES
        ]

    return make


@pytest.fixture
def broker(rabbitmq_server: RabbitServer) -> Iterator[Broker]:
    broker = Broker(rabbitmq_server)
    yield broker
    for kind in ("vhosts", "users"):
        for one in broker.ask("GET", kind):
            if one["name"] not in {"/", "guest"}:
                broker.ask("DELETE", f"{kind}/{one['name']}")
