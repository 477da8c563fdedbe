"""Append-only data sets, the triggers that start templates on them, and their slices."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from sluice.contracts.access.owners import EVERYONE, OwnerGroup
from sluice.contracts.common.base import Contract, Timestamp
from sluice.contracts.common.wording import name_rule

#: The name of an append-only data set. It is part of the names of slices, so it is shorter than
#: other names.
AppendOnlyName = Annotated[
    str,
    name_rule(
        "the name of an append-only data set",
        first="A-Za-z0-9_",
        other="A-Za-z0-9_.-",
        max_length=80,
    ),
]

HOUR = 3600.0


class Collect(Contract):
    """The append-only data set that gets the files of a workflow output (``sluice:collect``).

    The data set belongs to the group of the chain.

    Attributes:
        name: The name of the append-only data set.
        type: The type in its metadata, for ``sluice:match``.
    """

    name: AppendOnlyName
    type: Annotated[str, Field(min_length=1, max_length=200)]


class GrowthTrigger(Contract):
    """A trigger that starts a template when an append-only data set has grown.

    Attributes:
        files: Start when at least this many files are new to the template.
        hours: Start when any file is new and the last slice is this many hours old.
        all: The slice has all files, not only the new ones.
    """

    files: Annotated[int, Field(ge=1)] | None = None
    hours: Annotated[float, Field(gt=0, le=100_000)] | None = None
    all: bool = False


class Trigger(Contract):
    """The growth or the schedule that starts a template; exactly one of both is set.

    Attributes:
        every: The growth of an append-only data set.
        schedule: Five fields as in cron.
        zone: The time zone of the schedule.
    """

    every: GrowthTrigger | None = None
    schedule: str | None = None
    zone: str = "UTC"


class SliceOf(Contract):
    """The append-only data set from which a slice was cut.

    Attributes:
        append_only: The uid of the append-only data set.
        name: The name that chains use for it.
        reader: The template that the slice was cut for.
        number: The number of the slice among those of this template, from 1.
    """

    append_only: UUID
    name: str
    reader: str
    number: int


class CollectFiles(Contract):
    """A request to append the files of a data set to an append-only data set.

    The append-only data set is created if the group has none of this name.
    """

    into: Collect
    group: OwnerGroup = EVERYONE


class Collected(Contract):
    """The append-only data set that has the files of a data set.

    Attributes:
        append_only: The uid of the append-only data set.
        files: The number of appended files, also if an earlier request appended them.
    """

    append_only: UUID
    files: int


class CutSlice(Contract):
    """A request to cut a slice of the files that a template has not got yet.

    Attributes:
        reader: The name of the template.
        after: The number of files that the template has got, as far as the client knows. If the
            number is not correct, no slice is cut.
        all: The slice has all files, not only the new ones.
        occasion: The reason for the slice. A repetition with the same reason returns the same
            slice.
    """

    reader: Annotated[str, Field(min_length=1, max_length=200)]
    after: Annotated[int, Field(ge=0)]
    all: bool = False
    occasion: Annotated[str, Field(max_length=100)] | None = None


class CutAnswer(Contract):
    """The slice that was cut.

    Attributes:
        dataset_uid: The data set. None if there is no new file, or if another request was faster.
    """

    dataset_uid: UUID | None = None


class SliceConsumer(Contract):
    """A template that takes slices of an append-only data set.

    Attributes:
        name: The name of the template.
        used: The number of files that the template has got, each counted once.
        slices: The number of its slices.
        last_at: The time of its last slice.
        last: The data set of its last slice.
        generation: The highest generation of its new files, if the request asks for it.
    """

    name: str
    used: int
    slices: int
    last_at: Timestamp
    last: UUID
    generation: int = 0


class ScheduleState(Contract):
    """The last start of a template by its schedule.

    Attributes:
        template: The name of the template.
        last_at: The scheduled time that was handled last. None if no time has come yet.
        outcome: The result in words, as in ``1 slice of pages``.
    """

    template: str
    last_at: Timestamp | None = None
    outcome: str = ""


class ScheduleList(Contract):
    """The schedules of templates, by template."""

    schedules: list[ScheduleState]


class TriggerDepth(Contract):
    """The limit for templates that trigger each other in a cycle.

    Attributes:
        most: The number of chains that may start one after the other, each on the output of the
            chain before.
    """

    most: int


class TriggerDataset(Contract):
    """An append-only data set from which a template takes slices.

    Attributes:
        uid: The uid of the data set.
        name: Its name.
        files: The number of its files.
        new: The number of files that the template has not got yet.
        slices: The number of slices that were cut for the template.
        last_at: The time of the last slice.
        last: The data set of the last slice.
        blocked_reason: Why the template gets no slice now, and what to do.
    """

    uid: UUID
    name: str
    files: int
    new: int
    slices: int
    last_at: Timestamp | None = None
    last: UUID | None = None
    blocked_reason: str | None = None


class TemplateTrigger(Contract):
    """The trigger of a template.

    Attributes:
        kind: What starts the template.
        words: The trigger as text.
        next_at: The next scheduled time.
        last_at: The last scheduled time.
        outcome: The result of the last scheduled time in words.
        sets: The append-only data sets from which the template takes slices.
    """

    kind: Literal["growth", "schedule"]
    words: str
    next_at: Timestamp | None = None
    last_at: Timestamp | None = None
    outcome: str = ""
    sets: list[TriggerDataset] = Field(default_factory=list)
