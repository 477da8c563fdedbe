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


@dataclass(frozen=True, slots=True)
class QueueDeclaration:
    """A queue of the contracts.

    Attributes:
        name: The name of the queue. A queue of commands has the name of their type.
        consumer: The service that consumes the queue.
        senders: The services that send commands to the queue.
        events: The events that wake the consumer. A queue of commands receives none.
        delivery_limit: The number of deliveries of a message. A broker that has the queue keeps the
            number with which the queue was declared: delete the queue there when it is empty.
    """

    name: str
    consumer: str
    senders: frozenset[str] = frozenset()
    events: frozenset[str] = frozenset()
    delivery_limit: int = DELIVERY_LIMIT

    @property
    def types(self) -> frozenset[str]:
        """The types of the messages that the queue receives."""
        return self.events or frozenset({self.name})


#: All queues by name.
QUEUES: dict[str, QueueDeclaration] = {
    queue.name: queue
    for queue in (
        QueueDeclaration(WMS_TASKS, "wms", frozenset({"wfms.chains"})),
        QueueDeclaration(WMS_DOWNSTREAM_COUNTS, "wms", frozenset({"wfms.chains"})),
        QueueDeclaration(DMS_FILES, "dms", frozenset({"wms"})),
        QueueDeclaration(DMS_RELEASES, "dms", frozenset({"wms"})),
        QueueDeclaration(DMS_DELETIONS, "dms", frozenset({"wfms.watcher"})),
        QueueDeclaration(DMS_UPLOADS, "dms", frozenset({"wfms.chains"})),
        QueueDeclaration(INTAKE_WAKE, "wfms.intake", events=frozenset({DATASET_CLOSED})),
        QueueDeclaration(
            WATCHER_WAKE, "wfms.watcher", events=frozenset({TASK_ENDED, DATASET_CLOSED})
        ),
        QueueDeclaration(WMS_WAKE, "wms", events=frozenset({DATASET_CLOSED})),
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
