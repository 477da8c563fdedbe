"""Run every test of the suite with both brokers."""

from collections.abc import AsyncIterator

import pytest

from sluice.servicekit.transport import retry_pauses
from sluice.servicekit.transport.base import Transport
from tests.conformance.transport_kit import (
    TOPOLOGY,
    Broker,
    PostgresBroker,
    RabbitBroker,
    start_transport,
)


@pytest.fixture(params=["postgres", "rabbitmq"])
def broker(request: pytest.FixtureRequest) -> Broker:
    if request.param == "postgres":
        return PostgresBroker(
            request.getfixturevalue("database_url"), request.getfixturevalue("postgres_server")
        )
    return RabbitBroker(
        request.getfixturevalue("rabbitmq_url"), request.getfixturevalue("rabbitmq_server")
    )


@pytest.fixture
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the pauses between retries, for tests of something else."""
    monkeypatch.setattr(retry_pauses, "PAUSES", (0.01, 0.02, 0.05))


@pytest.fixture
async def transport(broker: Broker) -> AsyncIterator[Transport]:
    async with start_transport(broker.url, TOPOLOGY) as one:
        yield one
