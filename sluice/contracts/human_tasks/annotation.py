"""Models of human tasks.

The ask service exchanges them with the WMS and with browsers.
"""

from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from sluice.contracts.access.owners import EVERYONE, Owner, OwnerGroup
from sluice.contracts.common.base import Contract, StorageUrl, Timestamp
from sluice.contracts.common.states import ReportAnswer
from sluice.contracts.human_tasks.ask import AnswerName, Ask
from sluice.contracts.jobs.job_inputs import InputFile
from sluice.contracts.jobs.tasks import TaskOutput
from sluice.contracts.pilots.pilots import OutputFile, ReportedTime

#: Answers of one request, items of one answer.
MAX_CONCURRENT = 50
#: Characters.
MAX_REASON = 1000


class HumanTask(Contract):
    """A human task that has not ended.

    ``files`` are the inputs that every job gets, each with its port, including the port of
    ``ask.gold``. ``asked`` is the number of jobs that wait for answers.
    """

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


class HumanTaskList(Contract):
    """A list of human tasks."""

    tasks: list[HumanTask]


class HumanJob(Contract):
    """A job of a human task.

    Within a task, ``id`` rises in the order in which the jobs were created.
    """

    id: int
    seq: int
    input: InputFile


class HumanJobList(Contract):
    """One page of jobs, ordered by ``id``.

    The next page begins after the last ``id`` of this page.
    """

    jobs: list[HumanJob]


class AnsweredJob(Contract):
    """A job whose answer file is on its storage, under the name of attempt 1."""

    id: int
    output: OutputFile
    asked_at: ReportedTime
    answered_at: ReportedTime


class RefusedJob(Contract):
    """A job that cannot be asked because its file cannot be shown.

    ``reason`` is a sentence for people.
    """

    id: int
    reason: Annotated[str, Field(min_length=1, max_length=MAX_REASON)]
    asked_at: ReportedTime


class AnsweredJobs(Contract):
    """A report of jobs that were answered or cannot be asked."""

    jobs: Annotated[list[AnsweredJob], Field(max_length=1024)] = Field(default_factory=list)
    refused: Annotated[list[RefusedJob], Field(max_length=1024)] = Field(default_factory=list)


class AcceptedAnswer(Contract):
    """The result of a report on one job.

    ``stale`` means that the job no longer waits for an answer.
    """

    id: int
    answer: ReportAnswer


class AcceptedAnswers(Contract):
    """Results of a report: answered jobs first, then refused jobs."""

    jobs: list[AcceptedAnswer]


class AskPage(Contract):
    """The content of the page of a human task.

    ``over`` says that the step has no more questions. ``wording`` changes when any text of the
    question changes. ``language`` and ``labels`` are those of ``Ask``.
    """

    question: str
    answers: list[str]
    instructions: str
    help: str
    undo: bool
    over: bool
    wording: str
    language: str | None = None
    labels: dict[str, str] = Field(default_factory=dict)


class AnnotatorItem(Contract):
    """An item as the page shows it.

    ``text`` may have ``mark``: the begin and end of a place, in characters. ``html`` is sanitized.
    ``image`` is an address, with ``box``: left, top, width and height in pixels of the image.
    """

    id: UUID
    text: str | None = None
    mark: tuple[int, int] | None = None
    html: str | None = None
    image: str | None = None
    box: tuple[float, float, float, float] | None = None
    title: str = ""


class AnnotatorAnswer(Contract):
    """An answer to an item.

    ``seconds`` is the time for which the item was shown.
    """

    item: UUID
    answer: AnswerName
    seconds: Annotated[float, Field(ge=0, le=86_400)] = 0.0


class AskNext(Contract):
    """Answers of a browser, and a request for more items.

    ``wanted`` is the number of items that the browser wants in addition to those in ``has``.
    Answers that are sent twice count once.
    """

    answers: Annotated[list[AnnotatorAnswer], Field(max_length=MAX_CONCURRENT)] = Field(
        default_factory=list
    )
    has: Annotated[list[UUID], Field(max_length=MAX_CONCURRENT)] = Field(default_factory=list)
    wanted: Annotated[int, Field(ge=0, le=MAX_CONCURRENT)] = 3


class AnswerFate(StrEnum):
    """What happened to an answer."""

    TAKEN = "taken"
    ALREADY = "already"  #: this one was taken before
    LATE = "late"  #: nobody asks it any more: it was decided, or its task has ended
    UNKNOWN = "unknown"  #: the item was never shown to this browser


class AnswerResult(Contract):
    """What happened to the answer to one item."""

    item: UUID
    fate: AnswerFate


class NextItems(Contract):
    """The results of answers, and the next items.

    ``given`` is the number of answers of this browser that count here. ``over`` and ``wording`` are
    those of ``AskPage``. If ``wording`` is new, read the page again before you show the items.
    Without ``items`` and ``over``, other browsers have the remaining items: ask again later.
    """

    fates: list[AnswerResult] = Field(default_factory=list)
    items: list[AnnotatorItem] = Field(default_factory=list)
    given: int = 0
    over: bool = False
    wording: str


class UndoAnswer(Contract):
    """A request to revoke the answer to an item."""

    item: UUID


class AnswerInFile(Contract):
    """An answer as the answer file of an item contains it.

    ``device_uid`` is the same for all answers of a browser to a step. ``person`` is who was
    signed in.
    """

    answer: str
    device_uid: UUID
    person: str | None = None
    answered_at: Timestamp
    seconds: float


class AnswerFile(Contract):
    """The content of the file that a decided item produces.

    ``item`` is the item itself if it is JSON. ``name`` is the name of its file.
    """

    answer: str
    agreed: int
    name: str
    item: Any = None
    answers: list[AnswerInFile]
