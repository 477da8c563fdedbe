"""Requests and answers of the DMS: data sets, files, storages, periods, runs, frames."""

from enum import StrEnum
from operator import not_
from typing import Annotated, ClassVar
from uuid import UUID

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from sluice.contracts.append_only import SliceOf
from sluice.contracts.asset_refs import MARK
from sluice.contracts.base import (
    Checksum,
    Contract,
    FileName,
    Metadata,
    Name,
    StorageUrl,
    Timestamp,
    absent,
)
from sluice.contracts.bounds import (
    MOST_ADDED,
    MOST_META,
    MOST_URL,
    NewMetadata,
    NewText,
    NewUrl,
    check_inherited,
    check_meta,
    check_origin,
    require_short_name,
)
from sluice.contracts.owners import EVERYONE, GroupName, Owner, OwnerGroup, SharedWith
from sluice.contracts.problems import Unprocessable
from sluice.contracts.renamed import ContractWithOldNames
from sluice.contracts.states import DatasetState, DatasetType, StorageType
from sluice.contracts.wording import in_words
from sluice.visible_text import quoted


class NewDataset(Contract):
    """Registers a data set; the name is unique, and a repeated registration answers with the
    first."""

    name: Name
    type: DatasetType = DatasetType.INPUT
    meta: Metadata = Field(
        default_factory=dict,
        description=(
            f"At most {MOST_META} bytes as JSON; {MOST_META + MOST_ADDED} of what chains write,"
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
    copied: Annotated[bool, Field(exclude_if=not_)] = False
    #: Folder of the data set on its storage; none where files keep URLs of their own.
    url: NewUrl | None = None
    owner: Owner = None
    group: Annotated[
        GroupName | None, Field(exclude_if=absent, description="None: the owner's first.")
    ] = None

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
KEPT_KEYS = (MARK, "output_name")


def require_no_kept_keys(meta: Metadata) -> None:
    """Of what a person registers. Raises ``Unprocessable``."""
    if kept := [key for key in KEPT_KEYS if key in meta]:
        raise Unprocessable(
            f"the metadata has {' and '.join(kept)}, which the system sets itself: give it another"
            " name"
        )


class Dataset(Contract):
    uid: UUID
    name: Name
    type: DatasetType
    state: DatasetState
    meta: Metadata
    period: Name | None = None
    run: int | None = None
    #: The conditions of its run, as they were when it was registered.
    conditions: Annotated[Metadata, Field(exclude_if=not_)] = Field(default_factory=dict)
    on_demand: bool = False
    url: StorageUrl | None = None
    #: Files registered so far, and their bytes.
    count_files: int
    bytes: int
    #: Of these files, those that are deleted already, since all steps that read them are done with
    #: them. Told where it is asked for.
    released: Annotated[int, Field(exclude_if=not_)] = 0
    #: Why its upload cannot succeed. Told where it is asked for.
    lost: Annotated[str | None, Field(exclude_if=absent)] = None
    #: Whoever registered it has the originals of its files. Told where it is asked for.
    copied: Annotated[bool, Field(exclude_if=not_)] = False
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
    standing: Annotated[str | None, Field(exclude_if=absent)] = None
    #: Of which standing data set it is a slice, and for whom.
    slice: Annotated[SliceOf | None, Field(exclude_if=absent)] = None

    @property
    def usable(self) -> bool:
        """The status that the WfMS asks for: can it be worked with?"""
        return self.state.readable


class DatasetStatus(Contract):
    """How far a data set is. ``usable``: it can be worked with."""

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
    chain_waits: Annotated[str | None, Field(exclude_if=absent)] = None


class DatasetPage(ContractWithOldNames):
    """``after`` goes into the next request's ``after``: nothing closed between two requests is
    missed or repeated."""

    old_names: ClassVar = {"after": "cursor"}

    datasets: list[Dataset]
    after: str | None


class Stalled(Contract):
    """Data sets whose upload or deletion fails again and again for one reason. ``state``: uploading
    or deleting. ``halted``: it is not tried again before a person asks for it. ``first``: the one
    that was registered first; ``number``: how many there are. ``since``: when the first of them was
    to be uploaded."""

    state: DatasetState
    reason: str
    halted: bool = False
    first: Dataset
    number: int
    since: Timestamp | None = Field(default=None, exclude_if=absent)


class StalledList(Contract):
    """Most data sets first. ``more``: how many data sets wait for other reasons."""

    stalled: list[Stalled]
    more: int = 0


class NewFile(Contract):
    """A file that belongs at place ``seq`` of a data set. ``url`` lies within a registered
    storage."""

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
    released: Annotated[bool, Field(exclude_if=not_)] = False


def _small(files: list[NewFile]) -> list[NewFile]:
    """Of a request: what jobs write is told in messages, and an origin there names all of a merge's
    inputs."""
    for place, file in enumerate(files):
        try:
            require_short_name(file.name)
            check_meta(file.meta)
            check_origin(file.origin or {})
            if len(file.url) > MOST_URL:
                raise in_words(
                    f"a URL may have {MOST_URL} characters, and this has {len(file.url)}"
                )
        except ValueError as error:
            raise in_words(f"file {place} of the list ({quoted(file.name)}): {error}") from error
    return files


class NewFiles(Contract):
    files: Annotated[list[NewFile], Field(max_length=10_000), AfterValidator(_small)]


class File(NewFile):
    id: int
    dataset_uid: UUID


class FilePage(ContractWithOldNames):
    """Files in order of ``seq`` (then name); ``after`` is None on the last page."""

    old_names: ClassVar = {"after": "next"}

    files: list[File]
    after: str | None


class Registered(Contract):
    """How many of the files sent were new (the others were registered before, identical)."""

    new: int
    known: int


class CloseDataset(Contract):
    """``files``: how many files make the data set complete; it closes when they are registered.
    Until then another number takes the place of this one. None: close with what is there, or with
    the number said before."""

    files: Annotated[int, Field(ge=0)] | None = None


class ArchiveFormat(StrEnum):
    """What all files of data sets may be packed into."""

    ZIP = "zip"
    TAR = "tar"


#: Bytes. Round in decimals as well: what is just allowed is so when it has been written as JSON.
MOST_MARK = 9e18


class WaterMarks(Contract):
    """Of an input storage: from ``high`` on it counts as filling faster than it is worked off,
    until it is below ``low``. Each is a number of bytes, or a share (at most 1) of its capacity;
    without one, of what lies on it and is free on its file system."""

    low: Annotated[float, Field(gt=0, le=MOST_MARK)]
    high: Annotated[float, Field(gt=0, le=MOST_MARK)]


class NewStorage(Contract):
    name: Name
    type: StorageType
    url: NewUrl
    #: Bytes of files on it up to which it is given new data; None where the file system itself is
    #: the limit.
    capacity: Annotated[int, Field(gt=0)] | None = None
    #: Files are never removed from it, only forgotten.
    read_only: bool = False


class Storage(NewStorage):
    """A disabled one gets no new data sets; what lies on it is read and deleted as before."""

    id: UUID
    url: StorageUrl
    enabled: bool
    #: Bytes of the files known on it.
    used: int
    #: Why an enabled one gets no new data sets all the same; told in the list of all storages
    #: alone.
    warning: Annotated[str | None, Field(exclude_if=absent)] = None
    #: Told there as well: how full it is, the end of a sentence; absent: it has room.
    full: Annotated[str | None, Field(exclude_if=absent)] = None
    #: Told there as well, of one that is full for large files alone: the bytes that jobs wait for.
    #: It takes new data where no other storage of its type does.
    full_for: Annotated[int | None, Field(exclude_if=absent)] = None
    #: Told there as well, of one that has marks; and since when it has been filling.
    marks: Annotated[WaterMarks | None, Field(exclude_if=absent)] = None
    filling_since: Annotated[Timestamp | None, Field(exclude_if=absent)] = None
    #: Told where it is asked for: bytes that still fit, as they were last looked at (none: without
    #: a limit, or not known); and how many data sets lie there.
    free: Annotated[int | None, Field(exclude_if=absent)] = None
    datasets: Annotated[int | None, Field(exclude_if=absent)] = None

    @property
    def room(self) -> int | None:
        """Bytes that its capacity leaves, less than 0 where it was exceeded; None: it has none."""
        return None if self.capacity is None else self.capacity - self.used

    @property
    def in_use(self) -> bool:
        """Does it get new data sets?"""
        return self.enabled and self.warning is None

    @property
    def objection(self) -> str | None:
        """Why it can take no data now, as it was told in the list of all storages; a sentence with
        its name before it."""
        if not self.enabled:
            return f"is disabled (`sluice storage enable {self.name}`)"
        if self.warning is not None:
            return f"gets no new data sets ({self.warning})"
        if self.read_only:
            return "is read-only"
        if self.full is not None and self.full_for is None:
            return f"is full ({self.full})"
        if self.room is not None and self.room <= 0:
            return f"is full ({self.used} of {self.capacity} bytes)"
        return None


class DatasetUids(Contract):
    """Asks which of them lie on a storage; and the answer."""

    uids: Annotated[list[UUID], Field(max_length=1000)]


class NewPeriod(Contract):
    """A period of data taking with its physics goal."""

    name: Name
    goal: NewText = ""
    started_at: Timestamp | None = None
    ended_at: Timestamp | None = None


class Period(NewPeriod):
    goal: str = ""
    runs: int = 0


class EndTime(Contract):
    """When a period or a run ended; null: it has not ended, after all."""

    ended_at: Timestamp | None


class NewRun(Contract):
    """A run: conditions constant, hours long."""

    number: Annotated[int, Field(ge=0)]
    period: Name
    conditions: NewMetadata = Field(default_factory=dict)
    started_at: Timestamp | None = None
    ended_at: Timestamp | None = None


class Run(NewRun):
    conditions: Metadata = Field(default_factory=dict)
    frames: int = 0


class NewFrame(Contract):
    """A numbered block of detector data of a run, seconds long, and the file that holds it."""

    number: Annotated[int, Field(ge=0)]
    file_id: int | None = None
    meta: NewMetadata = Field(default_factory=dict)


class NewFrames(Contract):
    frames: Annotated[list[NewFrame], Field(max_length=10_000)]


class Frame(NewFrame):
    meta: Metadata = Field(default_factory=dict)
    run: int
