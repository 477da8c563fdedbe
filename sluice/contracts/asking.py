"""Steps that people do: what the service that asks takes from the WMS and gives back, and what a
browser gets and sends."""

import operator
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from sluice.contracts.ask import AnswerName, Ask
from sluice.contracts.base import Contract, StorageUrl, Timestamp, absent
from sluice.contracts.job_inputs import InputFile
from sluice.contracts.owners import EVERYONE, Owner, OwnerGroup
from sluice.contracts.pilots import OutputFile, ReportedTime
from sluice.contracts.states import ReportAnswer
from sluice.contracts.tasks import TaskOutput

#: Answers of one request, items of one answer.
MOST_AT_ONCE = 50
#: Characters.
MOST_REASON = 1000


class AskedTask(Contract):
    """A task whose jobs are questions, still living. ``files``: that every job gets, each with its
    port: ``ask.gold``'s among them. ``asked``: jobs that wait for answers."""

    uid: UUID
    chain_uid: UUID
    step: str
    template: str
    owner: Owner = None
    group: OwnerGroup = EVERYONE
    ask: Ask
    output: TaskOutput
    log_out_url: StorageUrl
    files: list[InputFile] = Field(default_factory=list)
    asked: int


class AskedTasks(Contract):
    tasks: list[AskedTask]


class AskedJob(Contract):
    """``id``: rises within a task in the order in which its jobs were made."""

    id: int
    seq: int
    input: InputFile


class AskedJobs(Contract):
    """One page, by ``id``; the next begins behind the last one's."""

    jobs: list[AskedJob]


class AnsweredJob(Contract):
    """The file with what was answered is safely on its storage, under the name of attempt 1."""

    id: int
    output: OutputFile
    asked_at: ReportedTime
    answered_at: ReportedTime


class RefusedJob(Contract):
    """Nobody can be asked: its file is nothing that can be shown. ``reason``: as a sentence that a
    person understands."""

    id: int
    reason: Annotated[str, Field(min_length=1, max_length=MOST_REASON)]
    asked_at: ReportedTime


class AnsweredJobs(Contract):
    jobs: Annotated[list[AnsweredJob], Field(max_length=1024)] = Field(default_factory=list)
    refused: Annotated[list[RefusedJob], Field(max_length=1024)] = Field(default_factory=list)


class TakenAnswer(Contract):
    """``stale``: the job no longer waits for an answer, as its task has ended, or nobody could be
    asked."""

    id: int
    answer: ReportAnswer


class TakenAnswers(Contract):
    """Of those that were answered, then of those that were refused."""

    jobs: list[TakenAnswer]


class AskPage(Contract):
    """What a page has to know before it asks. ``over``: nothing is asked here any more.
    ``wording``: other where anything is asked otherwise. ``language`` and ``labels``: as in
    ``Ask``."""

    question: str
    answers: list[str]
    instructions: str
    help: str
    undo: bool
    over: bool
    wording: str
    language: Annotated[str | None, Field(exclude_if=absent)] = None
    labels: Annotated[dict[str, str], Field(exclude_if=operator.not_)] = Field(default_factory=dict)


class ShownItem(Contract):
    """``text``: with ``mark`` (begin, end in characters), where a place is meant; ``html``:
    cleaned; ``image``: an address, with ``box`` (left, top, width, height in its pixels)."""

    id: UUID
    text: str | None = None
    mark: tuple[int, int] | None = None
    html: str | None = None
    image: str | None = None
    box: tuple[float, float, float, float] | None = None
    title: str = ""


class GivenAnswer(Contract):
    """``seconds``: that the item was looked at."""

    item: UUID
    answer: AnswerName
    seconds: Annotated[float, Field(ge=0, le=86_400)] = 0.0


class AskNext(Contract):
    """Answers that were given, and how many items the browser wants beside those that it ``has``;
    answers that are sent again count once."""

    answers: Annotated[list[GivenAnswer], Field(max_length=MOST_AT_ONCE)] = Field(
        default_factory=list
    )
    has: Annotated[list[UUID], Field(max_length=MOST_AT_ONCE)] = Field(default_factory=list)
    wanted: Annotated[int, Field(ge=0, le=MOST_AT_ONCE)] = 3


class AnswerFate(StrEnum):
    TAKEN = "taken"
    ALREADY = "already"  #: this one was taken before
    LATE = "late"  #: nobody asks it any more: it was decided, or its task has ended
    UNKNOWN = "unknown"  #: the item was never shown to this browser


class FateOfAnswer(Contract):
    item: UUID
    fate: AnswerFate


class NextItems(Contract):
    """``given``: how many answers of this browser count here; ``over``, ``wording``: as in
    ``AskPage``; where the wording is another one, read that first: the items are asked so. No
    ``items`` and not over: others have what is left; ask again in a while."""

    fates: list[FateOfAnswer] = Field(default_factory=list)
    items: list[ShownItem] = Field(default_factory=list)
    given: int = 0
    over: bool = False
    wording: str


class UndoAnswer(Contract):
    item: UUID


class AnswerInFile(Contract):
    """``device_uid``: the same for all answers of a browser to a step; ``person``: who was signed
    in."""

    answer: str
    device_uid: UUID
    person: str | None = None
    answered_at: Timestamp
    seconds: float


class AnswerFile(Contract):
    """What is in the file that a decided item gives. ``item``: the item itself, where that is JSON;
    ``name``: of its file."""

    answer: str
    agreed: int
    name: str
    item: Any = None
    answers: list[AnswerInFile]
