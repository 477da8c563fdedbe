"""The definitions for RabbitMQ match the transport, and give each service its permissions only."""

import json
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import aio_pika
import pytest
from aio_pika.abc import AbstractChannel, AbstractConnection
from aiormq.exceptions import ChannelAccessRefused

from sluice.contracts.messaging.queues import DEAD_LETTER_KEEPER, QUEUES, SENDERS, Queue
from sluice.servicekit.messages.queue_topology import sluice_topology
from sluice.servicekit.transport.base import (
    Delivery,
    Topology,
    Transport,
    TransportUnavailable,
)
from sluice.servicekit.transport.open import open_transport
from sluice.servicekit.transport.rabbitmq_definitions import User, build_rights, definitions
from sluice.servicekit.transport.rabbitmq_layout import build_layout
from tests.conformance.transport_kit import (
    Receiver,
    has_dead_letters,
    make_messages,
    start_receiver,
    start_transport,
    wait_for,
)
from tests.servers.rabbitmq import RabbitServer

SERVICES = sorted(
    {
        *(queue.consumer for queue in QUEUES.values()),
        *(one for senders in SENDERS.values() for one in senders),
        DEAD_LETTER_KEEPER,
    }
)

Operation = Callable[[AbstractChannel], Coroutine[Any, Any, object]]


@dataclass
class RabbitSite:
    """A virtual host of an administrator; ``admin`` is the URL of a login with all permissions."""

    server: RabbitServer
    admin: str
    users: dict[str, User]

    @property
    def vhost(self) -> str:
        return urlsplit(self.admin).path.lstrip("/")

    def url(self, service: str) -> str:
        user = self.users[service]
        return f"amqp://{user.login}:{user.password}@127.0.0.1:{self.server.amqp_port}/{self.vhost}"

    def document(self, topology: Topology | None = None) -> dict[str, Any]:
        return definitions(topology or sluice_topology(), self.users, vhost=self.vhost)

    def upload(self, document: dict[str, Any]) -> None:
        self.server.manage("POST", "definitions", document)

    def read_definitions(self) -> dict[str, Any]:
        document: dict[str, Any] = self.server.manage("GET", f"definitions/{self.vhost}")
        return document

    @asynccontextmanager
    async def transport(self, service: str) -> AsyncIterator[Transport]:
        transport = open_transport(self.url(service), sluice_topology(), declare=False)
        await transport.start()
        try:
            yield transport
        finally:
            await transport.stop()


@pytest.fixture
def site(rabbitmq_server: RabbitServer, rabbitmq_url: str) -> Iterator[RabbitSite]:
    vhost = urlsplit(rabbitmq_url).path.lstrip("/")
    users = {
        service: User(f"{vhost}.{service}", f"secret of {service}".replace(" ", "-"), service)
        for service in SERVICES
    }
    yield RabbitSite(rabbitmq_server, rabbitmq_url, users)
    for user in users.values():
        if any(one["name"] == user.login for one in rabbitmq_server.manage("GET", "users")):
            rabbitmq_server.manage("DELETE", f"users/{user.login}")


COMPARED = {
    "exchanges": ("name", "type", "durable", "auto_delete", "internal", "arguments"),
    "queues": ("name", "durable", "auto_delete", "arguments"),
    "bindings": ("source", "destination", "destination_type", "routing_key", "arguments"),
}


def normalize_definitions(document: dict[str, Any]) -> dict[str, list[str]]:
    """Return the definitions in order, without the name of the virtual host."""
    return {
        part: sorted(
            json.dumps([one[key] for key in keys], sort_keys=True) for one in document[part]
        )
        for part, keys in COMPARED.items()
    }


async def test_uploaded_definitions_equal_those_the_transport_declares(site: RabbitSite) -> None:
    async with start_transport(site.admin, sluice_topology()):
        pass
    declared = site.read_definitions()
    assert normalize_definitions(declared) == normalize_definitions(site.document())
    site.upload(site.document())
    site.upload(site.document())
    assert normalize_definitions(site.read_definitions()) == normalize_definitions(declared)
    async with start_transport(site.admin, sluice_topology()):
        pass


async def test_every_service_may_send_and_consume_its_messages(site: RabbitSite) -> None:
    site.upload(site.document())
    for queue, declared in QUEUES.items():
        async with (
            site.transport(declared.consumer) as consumer,
            start_receiver(consumer, queue) as receiver,
        ):
            for destination in declared.types:
                for sender in SENDERS[destination]:
                    async with site.transport(sender) as sending:
                        await sending.send(
                            make_messages(f"{sender} to {destination} for {queue}", to=destination)
                        )
                    first = await _find_delivery(receiver, f"{sender} to {destination} for {queue}")
                    await first.retry("not now")
                    second = await _find_delivery(
                        receiver, f"{sender} to {destination} for {queue}"
                    )
                    assert second.attempt == 2
                    await second.reject("never")
            assert await consumer.depth(queue) == 0


async def test_dead_letter_keeper_may_list_requeue_and_drop_messages(
    site: RabbitSite,
) -> None:
    site.upload(site.document())
    async with site.transport(DEAD_LETTER_KEEPER) as keeper:
        for queue, declared in QUEUES.items():
            async with start_transport(site.admin, sluice_topology()) as sending:
                await sending.send(make_messages("a", "b", to=queue))
            async with (
                site.transport(declared.consumer) as consumer,
                start_receiver(consumer, queue) as receiver,
            ):
                for delivery in await receiver.take(2):
                    await delivery.reject("no")
            await wait_for(partial(has_dead_letters, keeper, queue, 2))
            assert [letter.reason for letter in await keeper.dead_letters(queue, limit=5)] == [
                "no",
                "no",
            ]
            assert await keeper.requeue(queue, ["b"]) == 1
            assert await keeper.drop(queue) == 1
            assert await keeper.depth(queue) == 1


@pytest.mark.parametrize(
    "service",
    [
        SERVICES[0],
        *(
            pytest.param(
                service,
                marks=pytest.mark.long("the permissions of all services come from one function"),
            )
            for service in SERVICES[1:]
        ),
    ],
)
async def test_all_other_operations_are_refused(site: RabbitSite, service: str) -> None:
    site.upload(site.document())
    layout, rights = build_layout(sluice_topology()), build_rights([service], sluice_topology())
    connection = await aio_pika.connect(site.url(service))
    async with connection:
        published = {
            name
            for name in layout.exchanges
            if await _is_allowed(connection, partial(_publish_message, exchange=name))
        }
        consumed = {
            one.name
            for one in layout.queues
            if await _is_allowed(connection, partial(_consume_queue, name=one.name))
        }
        assert published == rights.write
        assert consumed == rights.read
        queue = next(iter(QUEUES))
        operations: list[Operation] = [
            lambda ch: _publish_message(ch, "", queue),
            lambda ch: ch.declare_queue("another"),
            lambda ch: ch.declare_queue("another", exclusive=True),
            lambda ch: ch.declare_exchange("another"),
            lambda ch: ch.queue_delete(queue),
            lambda ch: ch.exchange_delete(queue),
        ]
        for forbidden in operations:
            assert not await _is_allowed(connection, forbidden)
    # The expected permissions come from the contracts, not from the derived definitions.
    own = {queue.name for queue in QUEUES.values() if queue.consumer == service}
    sent = {destination for destination, senders in SENDERS.items() if service in senders}
    if service == DEAD_LETTER_KEEPER:
        assert rights.read == {f"{queue}.dead" for queue in QUEUES}
        assert rights.write == set(QUEUES)
    else:
        assert rights.read == own
        assert {name for name in rights.write if ".rest." not in name} == sent | {
            f"{queue}.dead" for queue in own
        }
        assert {name.partition(".rest.")[0] for name in rights.write if ".rest." in name} == own


async def test_forbidden_send_is_reported_and_the_transport_continues(site: RabbitSite) -> None:
    site.upload(site.document())
    async with site.transport("dms") as dms:
        with pytest.raises(TransportUnavailable, match="ACCESS_REFUSED"):
            await dms.send(make_messages("a", to="wms.tasks"))
        await dms.send(make_messages("b", to="dms.dataset-closed"))


@pytest.mark.long("checks only the message of a start before the installation")
async def test_missing_declaration_is_reported(site: RabbitSite) -> None:
    document = site.document()
    site.upload(document | {"queues": [], "bindings": [], "exchanges": [], "policies": []})
    transport = open_transport(site.url("dms"), sluice_topology(), declare=False)
    with pytest.raises(
        TransportUnavailable,
        match=r"exchange 'dms.dataset-closed' is not declared .* `sluice setup broker`",
    ):
        await transport.start()
    incomplete_definitions = [one for one in document["queues"] if one["name"] != "wms.tasks.dead"]
    site.upload(document | {"queues": incomplete_definitions, "bindings": []})
    with pytest.raises(TransportUnavailable, match=r"queue 'wms.tasks.dead' is not declared"):
        await transport.start()
    site.upload(document)
    await transport.start()
    await transport.stop()


async def test_full_queue_refuses_messages_and_reports_the_stored_ones(site: RabbitSite) -> None:
    topology = Topology.of(Queue("small", "tests", limit=50), Queue("other", "tests"))
    site.upload(site.document(topology))
    ids = [str(number) for number in range(400)]
    async with start_transport(site.admin, topology) as transport:
        with pytest.raises(TransportUnavailable, match=r"small.*full") as refusal:
            await transport.send(
                [*make_messages(*ids, to="small"), *make_messages("aside", to="other")]
            )
        assert refusal.value.refused_destinations == {"small"}
        assert 50 <= len(refusal.value.stored_ids - {"aside"}) < 400
        assert "aside" in refusal.value.stored_ids
        async with start_receiver(transport, "small", prefetch=1000) as receiver:
            taken = await receiver.take(len(refusal.value.stored_ids) - 1)
            assert {one.message_id for one in taken} == refusal.value.stored_ids - {"aside"}
            assert receiver.is_empty()


async def test_full_queue_of_wake_ups_drops_the_oldest_and_blocks_nothing(site: RabbitSite) -> None:
    bell = Queue("bell", "tests", events=frozenset({"rung"}), limit=20, wakes=True)
    topology = Topology.of(bell, Queue("book", "tests", events=frozenset({"rung"})))
    site.upload(site.document(topology))
    ids = [str(number) for number in range(100)]
    async with start_transport(site.admin, topology) as transport:
        await transport.send(make_messages(*ids, to="rung"))
        async with (
            start_receiver(transport, "bell", prefetch=200) as woken,
            start_receiver(transport, "book", prefetch=200) as book,
        ):
            assert [one.message_id for one in await book.take(100)] == ids
            assert [one.message_id for one in await woken.take(20)] == ids[-20:]
            assert woken.is_empty()
        assert await transport.count_dead("bell") == 0


def test_shared_login_of_two_services_has_the_permissions_of_both() -> None:
    users = {service: User("both", "secret", service) for service in ("wms", "dms")}
    document = definitions(sluice_topology(), users, vhost="v")
    [permission] = document["permissions"]
    of_dms = r"dms\.deletions|dms\.files|dms\.releases|dms\.uploads"
    of_wms = r"wms\.downstream\-counts|wms\.tasks|wms\.wake"
    assert permission["read"] == rf"^({of_dms}|{of_wms})$"
    assert [user["name"] for user in document["users"]] == ["both"]
    users["dms"] = User("both", "another", "dms")
    with pytest.raises(ValueError, match="'both' of dms, wms has two passwords"):
        definitions(sluice_topology(), users, vhost="v")


async def _is_allowed(connection: AbstractConnection, operation: Operation) -> bool:
    channel = await connection.channel()
    try:
        await operation(channel)
    except ChannelAccessRefused:
        return False
    await channel.close()
    return True


async def _publish_message(channel: AbstractChannel, exchange: str, key: str = "") -> None:
    target = (
        await channel.get_exchange(exchange, ensure=False) if exchange else channel.default_exchange
    )
    await target.publish(aio_pika.Message(b"{}"), key, mandatory=False)


async def _consume_queue(channel: AbstractChannel, name: str) -> None:
    queue = await channel.get_queue(name, ensure=False)
    tag = await queue.consume(_ignore_message)
    await queue.cancel(tag)


async def _ignore_message(_: object) -> None:
    return None


async def _find_delivery(receiver: Receiver, message_id: str) -> Delivery:
    """Return the wanted delivery, and skip events that were also sent to other receivers."""
    while (delivery := await receiver.next()).message_id != message_id:
        await delivery.ack()
    return delivery
