"""Messages between services (CloudEvents 1.0, JSON, structured mode)."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from sluice.contracts.common.base import Contract
from sluice.contracts.common.states import DatasetState, DatasetType, TaskState
from sluice.contracts.data.datasets import NewFile
from sluice.contracts.jobs.tasks import Task


class CloudEvent(BaseModel):
    """A message in the envelope of CloudEvents 1.0.

    Unknown attributes are allowed, as the standard requires.

    Attributes:
        id: The id, which is never used for another message.
        type: The type, which determines the fields of ``data`` (``PAYLOADS``).
        subject: The uid of the object that the message is about.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    specversion: Literal["1.0"] = "1.0"
    id: str
    source: str
    type: str
    subject: str | None = None
    time: datetime
    datacontenttype: Literal["application/json"] = "application/json"
    data: dict[str, Any]


# Messages with a queue of their name.
WMS_TASKS = "wms.tasks"
WMS_DOWNSTREAM_COUNTS = "wms.downstream-counts"
DMS_FILES = "dms.files"
DMS_RELEASES = "dms.releases"
DMS_DELETIONS = "dms.deletions"
DMS_UPLOADS = "dms.uploads"
# Events. They only wake loops that poll.
DATASET_CLOSED = "dms.dataset-closed"
TASK_ENDED = "wms.task-ended"


class DownstreamCounts(Contract):
    """Message ``wms.downstream-counts``: how many tasks read each input of a task.

    A file is no longer needed when each downstream task has finished a job with it. The task itself
    does not contain the counts, because an older WMS would refuse it.

    Attributes:
        counts: The data sets that all their downstream tasks take by single files or by groups,
            each with the number of these tasks. A count includes this task.
    """

    task_uid: UUID
    counts: dict[UUID, Annotated[int, Field(ge=1)]]


class RegisterFiles(Contract):
    """Message ``dms.files``: files of successful attempts to register in a data set.

    Attributes:
        close_at: The number of files at which the data set is complete.
    """

    dataset_uid: UUID
    files: list[NewFile] = Field(default_factory=list)
    close_at: int | None = None


class ReleaseFiles(Contract):
    """Message ``dms.releases``: a task no longer needs some files of a data set.

    A file may be registered after its release.

    Attributes:
        task_uid: The task.
        downstream_count: A file is deleted when this many tasks have released it.
        seqs: The numbers of the files.
    """

    dataset_uid: UUID
    task_uid: UUID
    downstream_count: Annotated[int, Field(ge=1)]
    seqs: Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1)]


class DeleteDataset(Contract):
    """Message ``dms.deletions``: the DMS must delete a data set."""

    uid: UUID


class UploadDataset(Contract):
    """Message ``dms.uploads``: the DMS must upload a data set to the output storage."""

    uid: UUID


class DatasetClosed(Contract):
    """Event ``dms.dataset-closed``: a data set has closed, or its upload is complete."""

    uid: UUID
    type: DatasetType
    state: DatasetState


class TaskEndedEvent(Contract):
    """Event ``wms.task-ended``: a task has ended in the given state."""

    uid: UUID
    state: TaskState


#: Message type (the name of the queue or event) → type of its ``data``. The AsyncAPI document is
#: generated from this table.
PAYLOADS: dict[str, type[Contract]] = {
    WMS_TASKS: Task,
    WMS_DOWNSTREAM_COUNTS: DownstreamCounts,
    DMS_FILES: RegisterFiles,
    DMS_RELEASES: ReleaseFiles,
    DMS_DELETIONS: DeleteDataset,
    DMS_UPLOADS: UploadDataset,
    DATASET_CLOSED: DatasetClosed,
    TASK_ENDED: TaskEndedEvent,
}

#: Messages that only wake loops that poll.
EVENTS = frozenset({DATASET_CLOSED, TASK_ENDED})


def extra_attributes(**ids: Any) -> dict[str, str]:
    """Return CloudEvents extension attributes for the ids that logs contain.

    Names are in lower case without underscores. Ids that are None are left out.
    """
    return {key.replace("_", ""): str(value) for key, value in ids.items() if value is not None}
