"""Messages between services: CloudEvents 1.0, JSON, structured mode; and the queues they travel
in."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from sluice.contracts.base import Contract
from sluice.contracts.datasets import NewFile
from sluice.contracts.states import DatasetState, DatasetType, TaskState
from sluice.contracts.tasks import Task


class CloudEvent(BaseModel):
    """``id`` identifies the message for ever; ``subject`` is the uid it speaks of; ``data`` is a
    ``PAYLOADS[type]`` as JSON. Unknown attributes are allowed, as the standard wants."""

    model_config = ConfigDict(frozen=True, extra="allow")

    specversion: Literal["1.0"] = "1.0"
    id: str
    source: str
    type: str
    subject: str | None = None
    time: datetime
    datacontenttype: Literal["application/json"] = "application/json"
    data: dict[str, Any]


# Queues: one consumer service each.
WMS_TASKS = "wms.tasks"
WMS_READERS = "wms.readers"
DMS_FILES = "dms.files"
DMS_RELEASES = "dms.releases"
DMS_DELETIONS = "dms.deletions"
DMS_UPLOADS = "dms.uploads"
# Events: they only wake those who poll.
DATASET_CLOSED = "dms.dataset-closed"
TASK_ENDED = "wms.task-ended"
# Queues that receive events.
INTAKE_WAKE = "wfms.intake.wake"
WATCHER_WAKE = "wfms.watcher.wake"
WMS_WAKE = "wms.wake"


class InputReaders(Contract):
    """``wms.readers``: data sets that the task reads file by file, or group by group, as all do
    that ever read them; with the number of these tasks, itself among them. A file of such a data
    set is of no use any more when each of them has finished a job with it. Not told with the task:
    a WMS of the release before would refuse it."""

    task_uid: UUID
    readers: dict[UUID, Annotated[int, Field(ge=1)]]


class RegisterFiles(Contract):
    """``dms.files``: files of winning attempts; ``close_at``: the data set is complete when it has
    so many files."""

    dataset_uid: UUID
    files: list[NewFile] = Field(default_factory=list)
    close_at: int | None = None


class ReleaseFiles(Contract):
    """``dms.releases``: task ``reader`` is done with the files that have these numbers. A file goes
    when as many tasks as ``readers`` are; it may be registered later than that."""

    dataset_uid: UUID
    reader: UUID
    readers: Annotated[int, Field(ge=1)]
    seqs: Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1)]


class DeleteDataset(Contract):
    """``dms.deletions``: from here on it is the DMS's duty."""

    uid: UUID


class UploadDataset(Contract):
    """``dms.uploads``: from here on it is the DMS's duty."""

    uid: UUID


class DatasetClosed(Contract):
    """Event ``dms.dataset-closed``: a data set can be worked with now, or its upload is
    complete."""

    uid: UUID
    type: DatasetType
    state: DatasetState


class TaskEndedEvent(Contract):
    """Event ``wms.task-ended``."""

    uid: UUID
    state: TaskState


#: Message type (= queue or event name) → what its ``data`` holds. The AsyncAPI document is
#: generated from here.
PAYLOADS: dict[str, type[Contract]] = {
    WMS_TASKS: Task,
    WMS_READERS: InputReaders,
    DMS_FILES: RegisterFiles,
    DMS_RELEASES: ReleaseFiles,
    DMS_DELETIONS: DeleteDataset,
    DMS_UPLOADS: UploadDataset,
    DATASET_CLOSED: DatasetClosed,
    TASK_ENDED: TaskEndedEvent,
}

#: Queue → message types it receives.
QUEUES: dict[str, frozenset[str]] = {
    WMS_TASKS: frozenset({WMS_TASKS}),
    WMS_READERS: frozenset({WMS_READERS}),
    DMS_FILES: frozenset({DMS_FILES}),
    DMS_RELEASES: frozenset({DMS_RELEASES}),
    DMS_DELETIONS: frozenset({DMS_DELETIONS}),
    DMS_UPLOADS: frozenset({DMS_UPLOADS}),
    INTAKE_WAKE: frozenset({DATASET_CLOSED}),
    WATCHER_WAKE: frozenset({TASK_ENDED, DATASET_CLOSED}),
    WMS_WAKE: frozenset({DATASET_CLOSED}),
}

EVENTS = frozenset({DATASET_CLOSED, TASK_ENDED})

#: Queue → the one service that consumes it.
CONSUMER: dict[str, str] = {
    WMS_TASKS: "wms",
    WMS_READERS: "wms",
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
    WMS_READERS: frozenset({"wfms.chains"}),
    DMS_FILES: frozenset({"wms"}),
    DMS_RELEASES: frozenset({"wms"}),
    DMS_DELETIONS: frozenset({"wfms.watcher"}),
    DMS_UPLOADS: frozenset({"wfms.chains"}),
    DATASET_CLOSED: frozenset({"dms"}),
    TASK_ENDED: frozenset({"wms"}),
}

#: The service through which people look at dead letters, put them back and drop them.
DEAD_LETTER_KEEPER = "wfms.operator"


def extra_attributes(**ids: Any) -> dict[str, str]:
    """CloudEvents extension attributes (lower case, no underscore) for the ids that logs carry,
    Nones left out."""
    return {key.replace("_", ""): str(value) for key, value in ids.items() if value is not None}
