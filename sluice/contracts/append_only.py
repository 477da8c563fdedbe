"""Data sets that grow: what outputs of chains are collected in, when templates are given what is
new in them, and the slices that these get."""

import operator
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from sluice.contracts.base import Contract, Timestamp, absent
from sluice.contracts.owners import EVERYONE, OwnerGroup
from sluice.contracts.wording import StringRule

#: Part of the names of its slices, so shorter than the name of a data set.
StandingName = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}$"),
    StringRule(
        "the name of a standing data set",
        first="[A-Za-z0-9_]",
        other="[A-Za-z0-9_.-]",
        most=80,
        rule=(
            "has letters (A to Z, a to z), digits and _.- only, at most 80, and begins with a"
            " letter, digit or _"
        ),
    ),
]

#: Seconds in an hour.
HOUR = 3600.0


class Collect(Contract):
    """``sluice:collect`` of a workflow output: its files are appended to the standing data set
    ``name`` of the chain's group. ``type``: in the metadata of that, for ``sluice:match``."""

    name: StandingName
    type: Annotated[str, Field(min_length=1, max_length=200)]


class GrowthTrigger(Contract):
    """A template is due when so many files are new to it, or any are and so many hours have gone
    since it was given some. ``all``: it is then given all files there are, not the new ones
    alone."""

    files: Annotated[int, Field(ge=1), Field(exclude_if=absent)] | None = None
    hours: Annotated[float, Field(gt=0, le=100_000), Field(exclude_if=absent)] | None = None
    all: Annotated[bool, Field(exclude_if=operator.not_)] = False


class Trigger(Contract):
    """When a template runs by itself: by growth, or by the clock (``schedule``: five fields, as of
    cron, in the time zone ``zone``). One of the two is given."""

    every: Annotated[GrowthTrigger | None, Field(exclude_if=absent)] = None
    schedule: Annotated[str | None, Field(exclude_if=absent)] = None
    zone: str = "UTC"


class SliceOf(Contract):
    """What a data set is a slice of. ``name``: what chains call the standing data set; ``reader``:
    the template that it was cut for, the ``number``-th time."""

    standing: UUID
    name: str
    reader: str
    number: int


class CollectFiles(Contract):
    """``POST /datasets/{uid}/collect``: the files of the data set are appended to the standing data
    set of the group, which is made where there is none."""

    into: Collect
    group: OwnerGroup = EVERYONE


class Collected(Contract):
    """``standing``: where they are. ``files``: how many they were, also when they came before."""

    standing: UUID
    files: int


class CutSlice(Contract):
    """``POST /datasets/{uid}/slices``: what ``reader`` has not been given yet. ``after``: how many
    files it has been given, as far as whoever asks knows; where it is more by now, nothing is cut.
    ``occasion``: what it is cut for, which is given one slice, the same again if asked again."""

    reader: Annotated[str, Field(min_length=1, max_length=200)]
    after: Annotated[int, Field(ge=0)]
    all: bool = False
    occasion: Annotated[str, Field(max_length=100)] | None = None


class CutAnswer(Contract):
    """``dataset_uid`` None: nothing was cut, as nothing is new, or another one was faster."""

    dataset_uid: UUID | None = None


class SliceConsumer(Contract):
    """A template that takes slices. ``used``: how many files it has been given, each once;
    ``last_at``: when it was given some, in ``last``; ``generation``: the highest of what is new to
    it, where it is asked for."""

    name: str
    used: int
    slices: int
    last_at: Timestamp
    last: UUID
    generation: Annotated[int, Field(exclude_if=operator.not_)] = 0


class ScheduleState(Contract):
    """Of a template with a schedule. ``last_at``: the time that it ran for, None: none yet;
    ``outcome``: what came of it."""

    template: str
    last_at: Annotated[Timestamp | None, Field(exclude_if=absent)] = None
    outcome: str = ""


class ScheduleList(Contract):
    schedules: list[ScheduleState]


class TriggerDepth(Contract):
    """``most``: how many chains may begin by themselves one behind the other, each on a slice of
    what the one before made, where templates form a ring."""

    most: int


class TriggerDataset(Contract):
    """A standing data set that a template takes slices of. ``new``: files that it was not given
    yet; ``last``: its last slice; ``held``: why what is new is not given to it now, and what to do
    about it."""

    uid: UUID
    name: str
    files: int
    new: int
    slices: int
    last_at: Annotated[Timestamp | None, Field(exclude_if=absent)] = None
    last: Annotated[UUID | None, Field(exclude_if=absent)] = None
    held: Annotated[str | None, Field(exclude_if=absent)] = None


class TemplateTrigger(Contract):
    """When a template runs by itself. ``kind``, ``words``: how; ``next_at``, ``last_at``,
    ``outcome``: of a schedule; ``sets``: the standing data sets that it takes slices of."""

    kind: Literal["growth", "schedule"]
    words: str
    next_at: Annotated[Timestamp | None, Field(exclude_if=absent)] = None
    last_at: Annotated[Timestamp | None, Field(exclude_if=absent)] = None
    outcome: Annotated[str, Field(exclude_if=operator.not_)] = ""
    sets: list[TriggerDataset] = Field(default_factory=list)
