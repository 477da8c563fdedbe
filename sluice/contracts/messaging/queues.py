"""Queues between services. Each has one consumer."""

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

#: Queue → types of the messages that it receives.
QUEUES: dict[str, frozenset[str]] = {
    WMS_TASKS: frozenset({WMS_TASKS}),
    WMS_DOWNSTREAM_COUNTS: frozenset({WMS_DOWNSTREAM_COUNTS}),
    DMS_FILES: frozenset({DMS_FILES}),
    DMS_RELEASES: frozenset({DMS_RELEASES}),
    DMS_DELETIONS: frozenset({DMS_DELETIONS}),
    DMS_UPLOADS: frozenset({DMS_UPLOADS}),
    INTAKE_WAKE: frozenset({DATASET_CLOSED}),
    WATCHER_WAKE: frozenset({TASK_ENDED, DATASET_CLOSED}),
    WMS_WAKE: frozenset({DATASET_CLOSED}),
}

#: The number of deliveries after which an unhandled message becomes a dead letter.
DELIVERY_LIMIT = 5
#: Queue → its own number of deliveries. A broker that has the queue keeps the number with which the
#: queue was declared: delete the queue there when it is empty.
DELIVERY_LIMITS: dict[str, int] = {}

#: Queue → its consumer service.
CONSUMER: dict[str, str] = {
    WMS_TASKS: "wms",
    WMS_DOWNSTREAM_COUNTS: "wms",
    DMS_FILES: "dms",
    DMS_RELEASES: "dms",
    DMS_DELETIONS: "dms",
    DMS_UPLOADS: "dms",
    INTAKE_WAKE: "wfms.intake",
    WATCHER_WAKE: "wfms.watcher",
    WMS_WAKE: "wms",
}

#: Destination (queue or event) → the services that send to it.
SENDERS: dict[str, frozenset[str]] = {
    WMS_TASKS: frozenset({"wfms.chains"}),
    WMS_DOWNSTREAM_COUNTS: frozenset({"wfms.chains"}),
    DMS_FILES: frozenset({"wms"}),
    DMS_RELEASES: frozenset({"wms"}),
    DMS_DELETIONS: frozenset({"wfms.watcher"}),
    DMS_UPLOADS: frozenset({"wfms.chains"}),
    DATASET_CLOSED: frozenset({"dms"}),
    TASK_ENDED: frozenset({"wms"}),
}

#: The service through which people see, requeue and drop dead letters.
DEAD_LETTER_KEEPER = "wfms.operator"
