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
from sluice.contracts.pilots.output_files import OutputFile, ReportedTime

#: Answers of one request, items of one answer.
MAX_CONCURRENT = 50
#: Characters.
MAX_REASON = 1000


class HumanTask(Contract):
    """A human task that has not ended.

    Attributes:
        files: The inputs that every job gets, each with its port, including the port of
            ``ask.gold``.
        asked: The number of jobs that wait for answers.
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

    Attributes:
        id: The id. Within a task, it rises in the order in which the jobs were created.
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

    Attributes:
        reason: A sentence for people.
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

    Attributes:
        answer: The result; the value ``stale`` means that the job no longer waits for an answer.
    """

    id: int
    answer: ReportAnswer


class AcceptedAnswers(Contract):
    """Results of a report: answered jobs first, then refused jobs."""

    jobs: list[AcceptedAnswer]


class AskPage(Contract):
    """The content of the page of a human task.

    Attributes:
        over: Whether the step has no more questions.
        wording: A digest that changes when any text of the question changes.
        language: As in ``Ask``.
        labels: As in ``Ask``.
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

    Attributes:
        mark: The begin and end of a place in the text, in characters.
        html: Sanitized HTML.
        image: The address of an image.
        box: Left, top, width and height of a box in pixels of the image.
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

    Attributes:
        seconds: The time for which the item was shown.
    """

    item: UUID
    answer: AnswerName
    seconds: Annotated[float, Field(ge=0, le=86_400)] = 0.0


class AskNext(Contract):
    """A request of a browser to store answers and to return more items.

    Attributes:
        answers: The answers. Answers that are sent twice count once.
        has: The items that the browser already has.
        requested_items: How many items it requests in addition to those in ``has``.
    """

    answers: Annotated[list[AnnotatorAnswer], Field(max_length=MAX_CONCURRENT)] = Field(
        default_factory=list
    )
    has: Annotated[list[UUID], Field(max_length=MAX_CONCURRENT)] = Field(default_factory=list)
    requested_items: Annotated[int, Field(ge=0, le=MAX_CONCURRENT)] = 3


class AnswerState(StrEnum):
    """The state of an answer."""

    TAKEN = "taken"
    ALREADY = "already"  #: An earlier answer to the item was taken.
    LATE = "late"  #: The item was decided, or its task has ended.
    UNKNOWN = "unknown"  #: The item was never shown to this browser.


class AnswerResult(Contract):
    """The state of the answer to one item."""

    item: UUID
    state: AnswerState


class NextItems(Contract):
    """The results of answers, and the next items.

    Attributes:
        results: The state of each answer.
        items: The next items. If there are none and ``over`` is not set, other browsers have the
            remaining items: ask again later.
        answer_count: The number of answers of this browser that count here.
        over: As in ``AskPage``.
        wording: As in ``AskPage``. If it is new, read the page again before you show the items.
    """

    results: list[AnswerResult] = Field(default_factory=list)
    items: list[AnnotatorItem] = Field(default_factory=list)
    answer_count: int = 0
    over: bool = False
    wording: str


class UndoAnswer(Contract):
    """A request to revoke the answer to an item."""

    item: UUID


class AnswerInFile(Contract):
    """An answer as the answer file of an item contains it.

    Attributes:
        browser_uid: The browser. It is the same for all answers of a browser to a step.
        person: The person who was signed in.
    """

    answer: str
    browser_uid: UUID
    person: str | None = None
    answered_at: Timestamp
    seconds: float


class AnswerFile(Contract):
    """The content of the file that a decided item produces.

    Attributes:
        name: The name of the item's file.
        item: The item itself, if it is JSON.
    """

    answer: str
    agreed: int
    name: str
    item: Any = None
    answers: list[AnswerInFile]
