"""Requests and answers of the DMS: data sets, files, storages, periods, runs, frames."""

from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from sluice.contracts.access.owners import EVERYONE, GroupName, Owner, OwnerGroup, SharedWith
from sluice.contracts.common.base import (
    Checksum,
    Contract,
    FileName,
    Metadata,
    Name,
    StorageUrl,
    Timestamp,
)
from sluice.contracts.common.bounds import (
    MAX_ADDED,
    MAX_META,
    MAX_URL,
    NewUrl,
    check_inherited,
    check_meta,
    check_origin,
    require_short_name,
)
from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.common.states import DatasetState, DatasetType, StorageType
from sluice.contracts.common.wording import in_words
from sluice.contracts.data.append_only import SliceOf
from sluice.contracts.data.asset_refs import MARK
from sluice.text.visible_text import quoted


class NewDataset(Contract):
    """Registers a data set with a unique name. A repeated registration returns the first one."""

    name: Name
    type: DatasetType = DatasetType.INPUT
    meta: Metadata = Field(
        default_factory=dict,
        description=(
            f"At most {MAX_META} bytes as JSON; {MAX_META + MAX_ADDED} of what chains write,"
            " which inherit it."
        ),
    )
    period: Name | None = None
    run: int | None = None
    #: Left alone by the matching of new data sets with templates: someone asks for its processing
    #: explicitly.
    on_demand: bool = False
    #: Its files were copied to the storage, and whoever did it has the originals. Files of others
    #: are deleted after their chain only where the template says so itself.
    copied: bool = False
    #: Folder of the data set on its storage; none where files keep URLs of their own.
    url: NewUrl | None = None
    owner: Owner = None
    group: Annotated[GroupName | None, Field(description="None: the owner's first.")] = None

    @field_validator("meta")
    @classmethod
    def _is_small(cls, meta: Metadata, others: ValidationInfo) -> Metadata:
        check = (
            check_meta
            if others.data.get("type", DatasetType.INPUT) is DatasetType.INPUT
            else check_inherited
        )
        return check(meta)


#: What the system itself says in the metadata: that it holds a version of an asset, and by which
#: name people call the output of a chain.
RESERVED_KEYS = (MARK, "output_name")


def require_no_reserved_keys(meta: Metadata) -> None:
    """Check metadata that a person registers.

    Raises:
        Unprocessable: It has a key that the system sets itself.

    """
    if reserved := [key for key in RESERVED_KEYS if key in meta]:
        raise Unprocessable(
            f"the metadata has {' and '.join(reserved)}, which the system sets itself: give it"
            " another name"
        )


class Dataset(Contract):
    """A data set."""

    uid: UUID
    name: Name
    type: DatasetType
    state: DatasetState
    meta: Metadata
    period: Name | None = None
    run: int | None = None
    #: The conditions of its run, as they were when it was registered.
    conditions: Metadata = Field(default_factory=dict)
    on_demand: bool = False
    url: StorageUrl | None = None
    #: Files registered so far, and their bytes.
    count_files: int
    bytes: int
    #: Of these files, those that are deleted already, since all steps that read them are done with
    #: them. Told where it is asked for.
    released: int = 0
    #: Why its upload cannot succeed. Told where it is asked for.
    lost: str | None = None
    #: Whoever registered it has the originals of its files. Told where it is asked for.
    copied: bool = False
    #: When it closed; of one that has not, when it was registered. The time that a list is asked
    #: for with `timestamp`: who remembers the newest and asks again gets every data set once, in
    #: order of closing.
    timestamp: Timestamp
    closed_at: Timestamp | None = None
    owner: Owner = None
    group: OwnerGroup = EVERYONE
    shared_with: SharedWith = Field(default_factory=list)
    #: What chains call it whose outputs are collected in it: it grows, never closes, and is no
    #: chain's input.
    append_only: str | None = None
    #: Of which append-only data set it is a slice, and for whom.
    slice: SliceOf | None = None

    @property
    def usable(self) -> bool:
        """Return whether tasks can work with the data set."""
        return self.state.readable


class DatasetStatus(Contract):
    """The progress of a data set. ``usable``: tasks can work with it."""

    uid: UUID
    state: DatasetState
    usable: bool
    registered_at: Timestamp
    closed_at: Timestamp | None
    count_files: int
    #: How many files make it complete, where somebody has said so.
    close_at: int | None
    #: Of one that waits for files: how many, and which numbers those registered have. Of one whose
    #: upload or deletion does not go on: why. What follows "it waits for".
    waits_for: str | None
    #: Why the chain of a data set that a template takes has not begun (of the operator service).
    chain_waits: str | None = None


class DatasetPage(Contract):
    """A page of data sets, with the ``after`` of the next request.

    A data set that closes between two requests is neither missed nor repeated.

    """

    datasets: list[Dataset]
    after: str | None


class StalledGroup(Contract):
    """Data sets whose upload or deletion fails repeatedly for the same reason.

    Attributes:
        state: Uploading or deleting.
        reason: The reason of the failures.
        halted: The work is not tried again until a person asks for it.
        first: The data set that was registered first.
        number: How many data sets there are.
        since: When the first of them was to be uploaded.

    """

    state: DatasetState
    reason: str
    halted: bool = False
    first: Dataset
    number: int
    since: Timestamp | None = None


class StalledList(Contract):
    """Stalled data sets, largest number first. ``more`` counts data sets with other reasons."""

    stalled: list[StalledGroup]
    more: int = 0


class NewFile(Contract):
    """A file with the number ``seq`` in a data set. ``url`` lies within a registered storage."""

    seq: Annotated[int, Field(ge=0)]
    name: FileName
    size: Annotated[int, Field(ge=0)]
    checksum: Checksum
    url: StorageUrl
    meta: Metadata = Field(default_factory=dict)
    #: What made it, e.g. the job and attempt; none for files from outside.
    origin: Metadata | None = None
    #: It was there, and is deleted already, since all steps that read it are done with it. Such
    #: files are listed where that is asked for.
    released: bool = False


def _small(files: list[NewFile]) -> list[NewFile]:
    """Check the limits on the files of a request.

    Messages carry what jobs write, and the origin in a message names all inputs of a merge.

    """
    for place, file in enumerate(files):
        try:
            require_short_name(file.name)
            check_meta(file.meta)
            check_origin(file.origin or {})
            if len(file.url) > MAX_URL:
                raise in_words(f"a URL may have {MAX_URL} characters, and this has {len(file.url)}")
        except ValueError as error:
            raise in_words(f"file {place} of the list ({quoted(file.name)}): {error}") from error
    return files


class NewFiles(Contract):
    """Files to register."""

    files: Annotated[list[NewFile], Field(max_length=10_000), AfterValidator(_small)]


class File(NewFile):
    """A registered file."""

    id: int
    dataset_uid: UUID


class FilePage(Contract):
    """A page of files by ``seq``, then name. ``after`` is None on the last page."""

    files: list[File]
    after: str | None


class RegistrationCounts(Contract):
    """How many files of a request were new, and how many were registered before, identical."""

    new: int
    known: int


class CloseDataset(Contract):
    """Closes a data set.

    Attributes:
        files: The number of files that make the data set complete. It closes when they are
            registered; a later request may set another number. None: close with the files that
            exist, or with the number of an earlier request.

    """

    files: Annotated[int, Field(ge=0)] | None = None


class ArchiveFormat(StrEnum):
    """The formats of archives of data sets."""

    ZIP = "zip"
    TAR = "tar"


#: Bytes. Round in decimals as well: what is just allowed is so when it has been written as JSON.
MAX_MARK = 9e18


class Watermarks(Contract):
    """The watermarks of an input storage.

    The storage counts as filling from ``high`` on until it is below ``low``. Each is a number of
    bytes, or a share (at most 1) of the capacity. Without a capacity, the used and the free bytes
    of the file system count.

    """

    low: Annotated[float, Field(gt=0, le=MAX_MARK)]
    high: Annotated[float, Field(gt=0, le=MAX_MARK)]


class NewStorage(Contract):
    """A storage to register."""

    name: Name
    type: StorageType
    url: NewUrl
    #: Bytes of files on it up to which it is given new data; None where the file system itself is
    #: the limit.
    capacity: Annotated[int, Field(gt=0)] | None = None
    #: Files are never removed from it, only forgotten.
    read_only: bool = False


class Storage(NewStorage):
    """A storage. A disabled one gets no new data sets; its files are read and deleted."""

    id: UUID
    url: StorageUrl
    enabled: bool
    #: Bytes of the files known on it.
    used: int
    #: Why an enabled one gets no new data sets all the same; told in the list of all storages
    #: alone.
    warning: str | None = None
    #: Told there as well: how full it is, the end of a sentence; absent: it has space.
    full: str | None = None
    #: Told there as well, of one that is full for large files alone: the bytes that jobs wait for.
    #: It takes new data where no other storage of its type does.
    full_for: int | None = None
    #: Told there as well, of one that has marks; and since when it has been filling.
    marks: Watermarks | None = None
    filling_since: Timestamp | None = None
    #: Told where it is asked for: bytes that still fit, as they were last looked at (none: without
    #: a limit, or not known); and how many data sets lie there.
    free: int | None = None
    datasets: int | None = None

    @property
    def unused(self) -> int | None:
        """Return the bytes that the capacity leaves (negative if exceeded), or None without one."""
        return None if self.capacity is None else self.capacity - self.used

    @property
    def in_use(self) -> bool:
        """Return whether the storage gets new data sets."""
        return self.enabled and self.warning is None

    @property
    def rejection_reason(self) -> str | None:
        """Return why the storage can take no data now, or None.

        The text continues a sentence that begins with the storage's name. It needs the values of
        the list of all storages.

        """
        if not self.enabled:
            return f"is disabled (`sluice storage enable {self.name}`)"
        if self.warning is not None:
            return f"gets no new data sets ({self.warning})"
        if self.read_only:
            return "is read-only"
        if self.full is not None and self.full_for is None:
            return f"is full ({self.full})"
        if self.unused is not None and self.unused <= 0:
            return f"is full ({self.used} of {self.capacity} bytes)"
        return None


class DatasetUids(Contract):
    """Data sets, of which the answer names those on a storage."""

    uids: Annotated[list[UUID], Field(max_length=1000)]
