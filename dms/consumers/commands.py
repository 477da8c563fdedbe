"""The queues of the DMS and their handlers."""

from collections.abc import Sequence

from dms.usecases.datasets.apply_deletion import apply_deletion
from dms.usecases.files.apply_registration import apply_registration
from dms.usecases.removal.apply_release import apply_release
from dms.usecases.uploads.apply_upload import apply_upload
from dms.usecases.wakes import DmsWakes
from sluice.contracts.messaging.messages import DMS_DELETIONS, DMS_FILES, DMS_RELEASES, DMS_UPLOADS
from sluice.servicekit.database import Database
from sluice.servicekit.messages.consumer import Handler, QueueConsumer
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.transport.base import Transport

#: Handler by queue, which is also the message type. It runs in the transaction of the message.
HANDLERS: dict[str, Handler] = {
    DMS_FILES: apply_registration,
    DMS_RELEASES: apply_release,
    DMS_DELETIONS: apply_deletion,
    DMS_UPLOADS: apply_upload,
}


def queue_consumers(
    transport: Transport, database: Database, *, metrics: ServiceMetrics, wakes: DmsWakes
) -> Sequence[QueueConsumer]:
    """Create a consumer for each queue."""
    woken = {
        DMS_FILES: wakes.complete,
        DMS_RELEASES: wakes.release,
        DMS_DELETIONS: wakes.deletion,
        DMS_UPLOADS: wakes.upload,
    }
    return [
        QueueConsumer(
            transport=transport,
            database=database,
            metrics=metrics,
            queue=queue,
            handlers={queue: handler},
            on_applied=woken[queue],
        )
        for queue, handler in HANDLERS.items()
    ]
