"""The narrow interface to whatever carries messages between services.

Two implementations exist, ``postgres`` (embedded mode) and ``rabbitmq``; one conformance suite
(``tests/conformance/test_transport.py``) runs on both, and what it asserts is what callers may rely
on:

* ``send`` returns only when every message is durably stored in every queue it goes to, or raises
  ``TransportUnavailable`` (then none, some or all were stored: the sender repeats those that are
  not known to be stored, and receivers drop the duplicates by message id).
* A queue that has reached its limit refuses messages; nothing that is stored in it is lost, queues
  of wake-ups excepted.
* A delivery that is neither acknowledged nor rejected comes again, to this or another consumer.
* A delivery that came ``delivery_limit`` times without an acknowledgement goes to the queue's dead
  letters, with its reason.
* Order is kept per queue as far as redeliveries allow; nothing may depend on it.
"""

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Protocol

from sluice.servicekit.transport.dead_letters import DELIVERY_LIMIT, DeadLetter
from sluice.visible_text import quoted


class TransportUnavailable(Exception):
    """The broker (or the database behind it) cannot be reached or refused the message; try again
    later.

    After ``send``: ``stored`` holds the ids of messages that are stored all the same, and need not
    be sent again; ``refused`` the destinations whose messages the broker answered with a no,
    because a queue is full or cannot store now.
    """

    def __init__(
        self, what: str, *, stored: Set[str] = frozenset(), refused: Set[str] = frozenset()
    ) -> None:
        super().__init__(f"message transport unavailable: {what}")
        self.what = what
        self.stored = frozenset(stored)
        self.refused = frozenset(refused)


class UnknownDestination(Exception):
    """No queue or event type of this name is part of the topology."""

    def __init__(self, destination: str) -> None:
        super().__init__(f"no queue and no event type is named {quoted(destination)}")
        self.destination = destination


@dataclass(frozen=True, slots=True)
class Queue:
    """A durable queue; ``events`` are the event types copied into it as well.

    ``delivery_limit``: deliveries before a message is a dead letter. ``limit``: most messages that
    wait in it where a broker keeps to limits (RabbitMQ, set up by an administrator); more are
    refused. ``wakes``: it holds nothing but wake-ups; when it is full the oldest gives way to the
    next, so that a service that is away holds up no other, and what nobody answers may be dropped
    instead of dying.
    """

    name: str
    events: frozenset[str] = frozenset()
    delivery_limit: int = DELIVERY_LIMIT
    limit: int = 1_000_000
    wakes: bool = False


@dataclass(frozen=True, slots=True)
class Topology:
    """All queues of the system. A destination is a queue's name, or an event type that any number
    of queues receive.
    """

    queues: Mapping[str, Queue]
    events: frozenset[str] = frozenset()

    @classmethod
    def of(cls, *queues: Queue, events: Sequence[str] = ()) -> "Topology":
        named = frozenset(events).union(*(queue.events for queue in queues))
        return cls(queues={queue.name: queue for queue in queues}, events=named)

    def receivers(self, destination: str) -> Sequence[str]:
        """Names of the queues that a message to ``destination`` is stored in; raises
        ``UnknownDestination``.
        """
        if destination in self.queues:
            return [destination]
        if destination in self.events:
            return [queue.name for queue in self.queues.values() if destination in queue.events]
        raise UnknownDestination(destination)


@dataclass(frozen=True, slots=True)
class Message:
    """One message to send: ``id`` identifies it for ever (receivers drop repetitions by it),
    ``body`` is JSON in UTF-8.
    """

    id: str
    destination: str
    body: bytes


class Delivery(Protocol):
    """One message in hand. Exactly one of the three methods is called once; none of them raises
    when the link is gone (the message then simply comes again).
    """

    @property
    def message_id(self) -> str: ...
    @property
    def body(self) -> bytes: ...
    @property
    def attempt(self) -> int:
        """1 for the first delivery, 2 for the first redelivery …"""
        ...

    async def ack(self) -> None:
        """Done: never comes again."""
        ...

    async def retry(self, reason: str) -> None:
        """Failed for now: comes again (a pause later), up to the queue's delivery limit; then it is
        dead, with ``reason``.
        """
        ...

    async def reject(self, reason: str) -> None:
        """Can never be handled: goes to the dead letters at once."""
        ...


class Transport(Protocol):
    """Life cycle: ``start`` connects and declares the topology (idempotent), or makes sure that it
    is there; ``stop`` may be called twice.

    ``start`` raises ``TransportUnavailable`` when nothing answers, or when what is needed is not
    declared; it may be tried again. After that, lost connections are re-established by the
    transport itself, ``send`` raising and ``consume`` waiting meanwhile.
    """

    async def start(self) -> None: ...
    async def stop(self) -> None: ...

    async def send(self, messages: Sequence[Message]) -> None:
        """Stores all messages durably; raises ``TransportUnavailable`` or ``UnknownDestination``
        (then nothing was sent).
        """
        ...

    def consume(self, queue: str, *, prefetch: int) -> AsyncGenerator[Sequence[Delivery], None]:
        """Endless batches of 1 … ``prefetch`` deliveries, as soon as there is one; at most
        ``prefetch`` unacknowledged at a time.

        Survives lost connections. Ends when the transport stops; closing the iterator hands back
        what is unacknowledged.
        """
        ...

    async def depth(self, queue: str) -> int:
        """Messages waiting in ``queue`` (those in a consumer's hand not counted)."""
        ...

    async def count_dead(self, queue: str) -> int:
        """Dead letters of ``queue``."""
        ...

    async def dead_letters(self, queue: str, *, limit: int) -> Sequence[DeadLetter]:
        """The oldest dead letters of ``queue``, which stay where they are."""
        ...

    async def requeue(self, queue: str, ids: Collection[str] | None = None) -> int:
        """Puts dead letters back into ``queue``: those with these message ids, or all (None) that
        are there now; gives how many.

        They come as if sent anew, with all their attempts before them. A loss of the connection on
        the way raises ``TransportUnavailable`` and loses none: each is in the queue or still dead,
        in the worst case both.
        """
        ...

    async def drop(self, queue: str, ids: Collection[str] | None = None) -> int:
        """Removes dead letters for good, chosen as in ``requeue``; gives how many."""
        ...

    async def ping(self) -> None:
        """Raises ``TransportUnavailable`` unless the broker answers now (for readiness checks)."""
        ...
