"""Requests and answers of the DMS: data sets, files and storages."""

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
from sluice.contracts.common.states import DatasetState, DatasetType, StorageType
from sluice.contracts.common.wording import in_words
from sluice.contracts.data.append_only import SliceOf
from sluice.text.visible_text import quoted


class NewDataset(Contract):
    """A request to register a data set with a unique name.

    A repeated registration returns the first data set.

    Attributes:
        on_demand: New data sets are not matched with templates if this is set. A person then
            requests their processing explicitly.
        copied: Its files were copied to the storage, and the person who copied them has the
            originals. Files of other data sets are deleted after their chain only if the template
            says so.
        url: The folder of the data set on its storage. None if each file has its own URL.
        group: The group that owns it. Defaults to the owner's first group.
    """

    name: Name
    type: DatasetType = DatasetType.INPUT
    meta: Metadata = Field(
        default_factory=dict,
        description=(
            f"At most {MAX_META} bytes as JSON. Data sets of chains, which inherit metadata, may"
            f" have {MAX_META + MAX_ADDED} bytes."
        ),
    )
    period: Name | None = None
    run: int | None = None
    on_demand: bool = False
    copied: bool = False
    url: NewUrl | None = None
    owner: Owner = None
    group: GroupName | None = None

    @field_validator("meta")
    @classmethod
    def _is_small(cls, meta: Metadata, info: ValidationInfo) -> Metadata:
        check = (
            check_meta
            if info.data.get("type", DatasetType.INPUT) is DatasetType.INPUT
            else check_inherited
        )
        return check(meta)


class Dataset(Contract):
    """A data set.

    Attributes:
        conditions: The conditions of its run at the time of its registration.
        count_files: Number of its files so far.
        bytes: Total size of these files.
        released: Number of its files that are already deleted, because all steps that read them
            have ended. Present only if the request asks for it.
        lost: Why its upload cannot succeed. Present only if the request asks for it.
        copied: The person who registered it has the originals of its files. Present only if the
            request asks for it.
        timestamp: When it closed, or when it was registered if it is open. A client that asks for
            data sets after the newest known time gets each once, in order of closing.
        append_only: The name by which chains append their outputs to it. Such a data set grows,
            never closes, and is not the input of a chain.
        slice: The append-only data set that it is a slice of, and the template that it was cut for.
    """

    uid: UUID
    name: Name
    type: DatasetType
    state: DatasetState
    meta: Metadata
    period: Name | None = None
    run: int | None = None
    conditions: Metadata = Field(default_factory=dict)
    on_demand: bool = False
    url: StorageUrl | None = None
    count_files: int
    bytes: int
    released: int = 0
    lost: str | None = None
    copied: bool = False
    timestamp: Timestamp
    closed_at: Timestamp | None = None
    owner: Owner = None
    group: OwnerGroup = EVERYONE
    shared_with: SharedWith = Field(default_factory=list)
    append_only: str | None = None
    slice: SliceOf | None = None

    @property
    def usable(self) -> bool:
        """Return whether tasks can work with the data set."""
        return self.state.readable


class DatasetStatus(Contract):
    """The progress of a data set.

    Attributes:
        usable: Whether tasks can work with it.
        close_at: Number of files that make it complete, if it is known.
        waits_for: What it waits for, as the end of a sentence: the missing files and the numbers of
            the registered files, or why its upload or deletion does not proceed.
        chain_waits: Why the chain of a data set that a template takes has not started. Only the
            operator service fills this field.
    """

    uid: UUID
    state: DatasetState
    usable: bool
    registered_at: Timestamp
    closed_at: Timestamp | None
    count_files: int
    close_at: int | None
    waits_for: str | None
    chain_waits: str | None = None


class DatasetPage(Contract):
    """A page of data sets.

    A data set that closes between two requests is neither missed nor repeated.

    Attributes:
        after: The start of the next page.
    """

    datasets: list[Dataset]
    after: str | None


class StalledGroup(Contract):
    """Data sets whose upload or deletion fails repeatedly for the same reason.

    Attributes:
        halted: The work is not tried again until a person asks for it.
        first: The data set that was registered first.
        number: Number of the data sets.
        since: When the upload of the first of them was due.
    """

    state: DatasetState
    reason: str
    halted: bool = False
    first: Dataset
    number: int
    since: Timestamp | None = None


class StalledList(Contract):
    """Stalled data sets, largest number first.

    Attributes:
        more: Number of data sets with other reasons.
    """

    stalled: list[StalledGroup]
    more: int = 0


class NewFile(Contract):
    """A file to register in a data set.

    Attributes:
        seq: The number of the file in the data set.
        url: Its URL, which is within a registered storage.
        origin: What wrote it, such as the job and attempt. None for files from outside.
        released: The file was registered and is already deleted, because all steps that read it
            have ended. Such files are listed only if the request asks for them.
    """

    seq: Annotated[int, Field(ge=0)]
    name: FileName
    size: Annotated[int, Field(ge=0)]
    checksum: Checksum
    url: StorageUrl
    meta: Metadata = Field(default_factory=dict)
    origin: Metadata | None = None
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
    """A page of files by ``seq``, then name.

    Attributes:
        after: The cursor of the next page. None means that this is the last page.
    """

    files: list[File]
    after: str | None


class RegistrationCounts(Contract):
    """The numbers of files of a request that were registered now and before.

    Attributes:
        new: Number of files that are new.
        known: Number of identical files that were registered before.
    """

    new: int
    known: int


class CloseDataset(Contract):
    """A request to close a data set.

    Attributes:
        files: The number of files that make the data set complete. It closes when they are
            registered. A later request may set another number. Defaults to the number of an earlier
            request, or to the number of existing files.
    """

    files: Annotated[int, Field(ge=0)] | None = None


class ArchiveFormat(StrEnum):
    """The formats of archives of data sets."""

    ZIP = "zip"
    TAR = "tar"


#: Bytes. A round decimal number, which JSON does not change.
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
    """A storage to register.

    Attributes:
        capacity: Bytes. The storage gets new data until its files have this size. None means that
            only the file system limits it.
        read_only: Files are never deleted from it. Only their records are.
    """

    name: Name
    type: StorageType
    url: NewUrl
    capacity: Annotated[int, Field(gt=0)] | None = None
    read_only: bool = False


class Storage(NewStorage):
    """A storage.

    A disabled storage gets no new data sets. Its files are still read and deleted. The list of all
    storages alone has ``warning``, ``full``, ``full_for``, ``marks`` and ``filling_since``.

    Attributes:
        used: Total size of its registered files in bytes.
        warning: Why it gets no new data sets although it is enabled.
        full: How full it is, as the end of a sentence. None means that it has space.
        full_for: The number of bytes that jobs wait for, if it is full for large files only. It
            takes new data if no other storage of its type does.
        marks: Its watermarks, if it has any.
        filling_since: Since when it has been filling.
        free: Bytes that still fit, as of the last check. None if there is no limit, or if it is not
            known. Present only if the request asks for it.
        datasets: Number of the data sets on it. Present only if the request asks for it.
    """

    id: UUID
    url: StorageUrl
    enabled: bool
    used: int
    warning: str | None = None
    full: str | None = None
    full_for: int | None = None
    marks: Watermarks | None = None
    filling_since: Timestamp | None = None
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
    """Data sets of which some are on a storage. The answer names only these."""

    uids: Annotated[list[UUID], Field(max_length=1000)]
