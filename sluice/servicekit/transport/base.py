"""The interface of a message transport between services.

There are two implementations, ``postgres`` (embedded mode) and ``rabbitmq``. One conformance suite
(``tests/conformance/test_transport.py``) runs on both. Callers may rely on what it asserts:

- ``send`` returns only when every message is durably stored in every queue it goes to. Otherwise it
raises ``TransportUnavailable``: none, some or all messages were stored. The sender repeats those
that are not known to be stored, and receivers drop duplicates by message id.
- A full queue refuses messages. No stored message is lost, except in queues of wake-ups.
- A delivery that is neither acknowledged nor rejected comes again, to this or another consumer.
- A message that was delivered ``delivery_limit`` times without an acknowledgement goes to the
queue's dead letters with its reason.
- A queue keeps its order as far as redeliveries allow. Nothing may depend on it.
"""

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Protocol

from sluice.contracts.messaging.queues import Queue
from sluice.servicekit.transport.dead_letters import DeadLetter
from sluice.text.visible_text import quoted


class TransportUnavailable(Exception):
    """The broker, or its database, is unavailable or refused a message. Retry later.

    After ``send``, ``stored_ids`` has the ids of stored messages, which need not be sent again.
    ``refused_destinations`` has the destinations whose messages the broker refused, because a queue
    is full or cannot store now.
    """

    def __init__(
        self,
        what: str,
        *,
        stored_ids: Set[str] = frozenset(),
        refused_destinations: Set[str] = frozenset(),
    ) -> None:
        super().__init__(f"message transport unavailable: {what}")
        self.what = what
        self.stored_ids = frozenset(stored_ids)
        self.refused_destinations = frozenset(refused_destinations)


class UnknownDestination(Exception):
    """The topology has no queue and no event type of this name."""

    def __init__(self, destination: str) -> None:
        super().__init__(f"no queue and no event type is named {quoted(destination)}")
        self.destination = destination


@dataclass(frozen=True, slots=True)
class Topology:
    """All queues of the system.

    A destination is the name of a queue, or an event type that any number of queues receive.
    """

    queues: Mapping[str, Queue]
    events: frozenset[str] = frozenset()

    @classmethod
    def of(cls, *queues: Queue, events: Sequence[str] = ()) -> "Topology":
        """Return the topology of the given queues and events."""
        event_types = frozenset(events).union(*(queue.events for queue in queues))
        return cls(queues={queue.name: queue for queue in queues}, events=event_types)

    def receivers(self, destination: str) -> Sequence[str]:
        """Return the names of the queues that store a message to ``destination``.

        Raises:
            UnknownDestination: There is no such queue or event.
        """
        if destination in self.queues:
            return [destination]
        if destination in self.events:
            return [queue.name for queue in self.queues.values() if destination in queue.events]
        raise UnknownDestination(destination)


@dataclass(frozen=True, slots=True)
class Message:
    """A message to send. Receivers drop duplicates by ``id``. ``body`` is JSON in UTF-8."""

    id: str
    destination: str
    body: bytes


class Delivery(Protocol):
    """A delivered message. Exactly one of ``ack``, ``retry`` and ``reject`` is called once.

    None of them raises when the connection is lost: the message then comes again.
    """

    @property
    def message_id(self) -> str:
        """Return the id of the message."""

    @property
    def body(self) -> bytes:
        """Return the body of the message."""

    @property
    def attempt(self) -> int:
        """Return the number of the delivery: 1 is the first, 2 the first redelivery."""
        ...

    async def ack(self) -> None:
        """Acknowledge the message, which never comes again."""
        ...

    async def retry(self, reason: str) -> None:
        """Return the message to its queue after a pause.

        At the queue's delivery limit it becomes a dead letter with ``reason`` instead.
        """
        ...

    async def reject(self, reason: str) -> None:
        """Move the message to the dead letters at once."""
        ...


class Transport(Protocol):
    """A message transport.

    ``start`` connects and declares the topology, or checks that it exists. It may be retried.
    Later, the transport reconnects automatically; meanwhile ``send`` raises and ``consume`` waits.
    """

    async def start(self) -> None:
        """Connect, and declare or check the topology.

        Raises:
            TransportUnavailable: Nothing answers, or the topology is not declared.
        """

    async def stop(self) -> None:
        """Disconnect. A second call has no effect."""

    async def send(self, messages: Sequence[Message]) -> None:
        """Store all messages durably.

        Raises:
            TransportUnavailable: Not all messages are known to be stored.
            UnknownDestination: A destination does not exist, and nothing was sent.
        """
        ...

    def consume(self, queue: str, *, prefetch: int) -> AsyncGenerator[Sequence[Delivery], None]:
        """Yield batches of 1 … ``prefetch`` deliveries without end, each as soon as possible.

        At most ``prefetch`` messages are unacknowledged at a time. Lost connections are
        re-established. The iterator ends when the transport stops. Closing it returns
        unacknowledged messages to the queue.
        """
        ...

    async def depth(self, queue: str) -> int:
        """Return the number of waiting messages, without those that consumers hold."""
        ...

    async def count_dead(self, queue: str) -> int:
        """Return the number of dead letters of ``queue``."""
        ...

    async def dead_letters(self, queue: str, *, limit: int) -> Sequence[DeadLetter]:
        """Return the oldest dead letters of ``queue`` without removing them."""
        ...

    async def requeue(self, queue: str, ids: Collection[str] | None = None) -> int:
        """Return dead letters to ``queue`` and return their number.

        The messages behave as if they were sent again, with all attempts left. A lost connection
        loses no message: each is in the queue or still dead, in the worst case both.

        Args:
            queue: The queue.
            ids: The ids of the messages. Defaults to all present dead letters.

        Raises:
            TransportUnavailable: The connection was lost.
        """
        ...

    async def drop(self, queue: str, ids: Collection[str] | None = None) -> int:
        """Delete dead letters, chosen as in ``requeue``, and return their number."""
        ...

    async def ping(self) -> None:
        """Check that the broker answers, for readiness checks.

        Raises:
            TransportUnavailable: It does not answer.
        """
        ...
