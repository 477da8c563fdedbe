"""Query parameters of forwarded routes, by method and rule.

They equal the parameters of the services that answer: a test compares both.
"""

from datetime import datetime
from uuid import UUID

from pydantic import Field

from sluice.contracts.common.base import Contract, Page
from sluice.contracts.common.states import DatasetState, DatasetType, JobState, StorageType
from sluice.contracts.jobs.tasks import JobOrder


class DatasetsQuery(Page):
    """Which data sets are listed. Without other filters: those that can be processed."""

    timestamp: datetime | None = Field(
        None, description="Only data sets that closed later than this."
    )
    type: DatasetType | None = None
    state: list[DatasetState] = Field([], description="Only data sets in these states.")
    name: str | None = Field(None, description="Only the data set with this name.")
    uid: list[UUID] = Field([], max_length=1_000, description="Only these data sets.")
    newest: bool = Field(default=False, description="List the last registered data set first.")
    lost: bool = Field(
        default=False, description="With `uid`: include why an upload cannot succeed."
    )


class OneDatasetQuery(Contract):
    """Which details of a data set are included."""

    released: bool = Field(default=False, description="Include the number of released files.")
    copied: bool = Field(
        default=False,
        description="Include whether the person who registered the data set has the originals.",
    )


class DeletionQuery(Contract):
    """What a deletion may do."""

    force: bool = Field(
        default=False,
        description="Cancel chains that need the data set, and delete it even if it is an output.",
    )
    taken_back: bool = Field(
        default=False, description="The data set is a withdrawn version of an asset."
    )


class FilesQuery(Page):
    """Which files of a data set are listed."""

    released: bool = Field(default=False, description="Include released files.")


class AppendOnlyQuery(Contract):
    """Which append-only data sets are listed."""

    uid: UUID | None = Field(None, description="Only this data set.")
    generations: bool = Field(
        default=False, description="Include the generations: how many chains followed one another."
    )


class StoragesQuery(Contract):
    """Which storages are listed."""

    type: StorageType | None = None
    name: str | None = Field(None, description="Only the storage with this name.")
    all: bool = Field(default=False, description="Include storages that get no new data sets.")
    measured: bool = Field(default=False, description="Include the free space.")


class RunsQuery(Contract):
    """Which runs are listed."""

    period: str | None = None


class FramesQuery(Contract):
    """Which frames of a run are listed."""

    after: int = Field(-1, description="Only frames with numbers above this.")
    limit: int = Field(1_000, ge=1, le=10_000)


class JobsQuery(Page):
    """Which jobs of a task are listed."""

    state: JobState | None = None
    sort: JobOrder = JobOrder.SEQ
    full: bool = Field(default=False, description="Include pilot, time, memory and exit code.")


class OneJobQuery(Contract):
    """Which details of a job are included."""

    full: bool = Field(default=False, description="Include the names of the pilots.")


class PilotsQuery(Contract):
    """Which pilots are listed."""

    name: str | None = Field(None, description="Only pilots with this name.")
    attention: bool = Field(default=False, description="Only lost pilots that need attention.")
    after: str | None = None
    limit: int | None = Field(None, ge=1, le=10_000)


class DismissalQuery(Contract):
    """Which unmatched data sets are dismissed."""

    until: datetime = Field(description="Only data sets that were unmatched at this time.")


QUERIES: dict[tuple[str, str], type[Contract]] = {
    ("GET", "/datasets"): DatasetsQuery,
    ("GET", "/datasets/<uuid:uid>"): OneDatasetQuery,
    ("DELETE", "/datasets/<uuid:uid>"): DeletionQuery,
    ("GET", "/datasets/<uuid:uid>/files"): FilesQuery,
    ("GET", "/standing"): AppendOnlyQuery,
    ("GET", "/storages"): StoragesQuery,
    ("GET", "/runs"): RunsQuery,
    ("GET", "/runs/<int:run>/frames"): FramesQuery,
    ("GET", "/tasks/<uuid:uid>/jobs"): JobsQuery,
    ("GET", "/jobs/<int:job>"): OneJobQuery,
    ("GET", "/pilots"): PilotsQuery,
    ("DELETE", "/unmatched"): DismissalQuery,
}
