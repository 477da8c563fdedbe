"""Queues between services. Each has one consumer."""

from dataclasses import dataclass

from sluice.contracts.messaging.messages import (
    DATASET_CLOSED,
    DMS_DELETIONS,
    DMS_FILES,
    DMS_RELEASES,
    DMS_UPLOADS,
    TASK_ENDED,
    WMS_DOWNSTREAM_COUNTS,
    WMS_TASKS,
)

# Queues that receive events.
INTAKE_WAKE = "wfms.intake.wake"
WATCHER_WAKE = "wfms.watcher.wake"
WMS_WAKE = "wms.wake"

#: The number of deliveries after which an unhandled message becomes a dead letter.
DELIVERY_LIMIT = 5

#: The maximum number of waiting wake-ups. One has the same effect as many.
_MAX_WAKE_UPS = 1000


@dataclass(frozen=True, slots=True)
class Queue:
    """A durable queue.

    Attributes:
        name: The name of the queue. A queue of commands has the name of their type.
        consumer: The service that consumes the queue.
        senders: The services that send commands to the queue.
        events: The event types that are copied into the queue. A queue of commands receives none.
        delivery_limit: The number of deliveries of a message. A broker that has the queue keeps the
            number with which the queue was declared: delete the queue there when it is empty.
        limit: The maximum number of waiting messages, and also of dead letters, where the broker
            enforces limits (RabbitMQ, set up by an administrator). More are refused.
        wakes: The queue has wake-ups. When it is full, the oldest one is dropped, so that a service
            that is down blocks no other. Unanswered wake-ups may be dropped instead of becoming
            dead letters.
    """

    name: str
    consumer: str
    senders: frozenset[str] = frozenset()
    events: frozenset[str] = frozenset()
    delivery_limit: int = DELIVERY_LIMIT
    limit: int = 1_000_000
    wakes: bool = False

    @property
    def types(self) -> frozenset[str]:
        """The types of the messages that the queue receives."""
        return self.events or frozenset({self.name})


def _wake_ups(name: str, consumer: str, *events: str) -> Queue:
    return Queue(name, consumer, events=frozenset(events), limit=_MAX_WAKE_UPS, wakes=True)


#: All queues by name.
QUEUES: dict[str, Queue] = {
    queue.name: queue
    for queue in (
        Queue(WMS_TASKS, "wms", frozenset({"wfms.chains"})),
        Queue(WMS_DOWNSTREAM_COUNTS, "wms", frozenset({"wfms.chains"})),
        Queue(DMS_FILES, "dms", frozenset({"wms"})),
        Queue(DMS_RELEASES, "dms", frozenset({"wms"})),
        Queue(DMS_DELETIONS, "dms", frozenset({"wfms.watcher"})),
        Queue(DMS_UPLOADS, "dms", frozenset({"wfms.chains"})),
        _wake_ups(INTAKE_WAKE, "wfms.intake", DATASET_CLOSED),
        _wake_ups(WATCHER_WAKE, "wfms.watcher", TASK_ENDED, DATASET_CLOSED),
        _wake_ups(WMS_WAKE, "wms", DATASET_CLOSED),
    )
}

#: Destination (queue of commands, or event) → the services that send to it.
SENDERS: dict[str, frozenset[str]] = {
    **{queue.name: queue.senders for queue in QUEUES.values() if not queue.events},
    DATASET_CLOSED: frozenset({"dms"}),
    TASK_ENDED: frozenset({"wms"}),
}

#: The service through which people see, requeue and drop dead letters.
DEAD_LETTER_KEEPER = "wfms.operator"
