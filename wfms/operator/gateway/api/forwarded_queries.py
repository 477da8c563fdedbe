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

    timestamp: datetime | None = Field(None, description="Those that closed later than this.")
    type: DatasetType | None = None
    state: list[DatasetState] = Field([], description="Only these.")
    name: str | None = Field(None, description="The data set of this name.")
    uid: list[UUID] = Field([], max_length=1_000, description="Only these.")
    newest: bool = Field(default=False, description="The last one registered first.")
    lost: bool = Field(default=False, description="Say which have lost files.")


class OneDatasetQuery(Contract):
    """Which details of a data set are included."""

    released: bool = Field(default=False, description="With how many files are deleted already.")
    copied: bool = Field(
        default=False, description="Say whether whoever registered it has the originals."
    )


class DeletionQuery(Contract):
    """What a deletion may do."""

    force: bool = Field(
        default=False, description="Cancel chains that need it; delete an output too."
    )
    taken_back: bool = Field(
        default=False, description="It held a version of an asset that was taken back."
    )


class FilesQuery(Page):
    """Which files of a data set are listed."""

    released: bool = Field(default=False, description="With those that are deleted already.")


class AppendOnlyQuery(Contract):
    """Which append-only data sets are listed."""

    uid: UUID | None = Field(None, description="This one alone.")
    generations: bool = Field(
        default=False, description="With how many chains stand one behind the other."
    )


class StoragesQuery(Contract):
    """Which storages are listed."""

    type: StorageType | None = None
    name: str | None = Field(None, description="The storage of this name.")
    all: bool = Field(default=False, description="Those too that get no new data sets.")
    measured: bool = Field(default=False, description="With what is free on each.")


class RunsQuery(Contract):
    """Which runs are listed."""

    period: str | None = None


class FramesQuery(Contract):
    """Which frames of a run are listed."""

    after: int = Field(-1, description="Frames with numbers above this.")
    limit: int = Field(1_000, ge=1, le=10_000)


class JobsQuery(Page):
    """Which jobs of a task are listed."""

    state: JobState | None = None
    sort: JobOrder = JobOrder.SEQ
    full: bool = Field(default=False, description="With pilot, time, memory and exit code.")


class OneJobQuery(Contract):
    """Which details of a job are included."""

    full: bool = Field(default=False, description="With the names of the pilots.")


class PilotsQuery(Contract):
    """Which pilots are listed."""

    name: str | None = Field(None, description="Those of this name.")
    attention: bool = Field(default=False, description="Lost ones that need attention, alone.")
    after: str | None = None
    limit: int | None = Field(None, ge=1, le=10_000)


class DismissalQuery(Contract):
    """Which unmatched data sets are dismissed."""

    until: datetime = Field(description="Those that were unmatched by then.")


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
