"""The progress of human tasks, for the people who supervise them."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from sluice.contracts.common.base import Contract, Timestamp
from sluice.contracts.common.states import AskItemState, BrowserState
from sluice.contracts.human_tasks.ask import MAX_LINK_DAYS


class HumanStep(Contract):
    """The progress of one human task step.

    Attributes:
        link: The number of days for which a link may open the page. None means that annotators must
            sign in.
        items: The number of items by state.
        answer_count: The number of answers of annotators.
        seconds: The median time of an answer.
        browsers: The number of browsers that opened the page.
        excluded: The number of excluded browsers.
        reason: Why no more items are accepted.
    """

    template: str
    step: str
    group: str
    question: str
    answers: list[str]
    link: int | None = None
    tasks: int
    items: dict[AskItemState, int]
    answer_count: int
    last_hour: int
    seconds: float
    browsers: int
    excluded: int
    reason: str = ""

    @property
    def waiting(self) -> int:
        """Return the number of items that wait for answers."""
        return self.items.get(AskItemState.OPEN, 0)

    @property
    def decided(self) -> int:
        """Return the number of decided items whose chain does not have them yet."""
        return sum(
            self.items.get(state, 0) for state in (AskItemState.DECIDED, AskItemState.DELIVERING)
        )

    @property
    def delivered(self) -> int:
        """Return the number of items whose answers were delivered to their chain."""
        return self.items.get(AskItemState.DELIVERED, 0)

    @property
    def done(self) -> int:
        """Return the number of decided items, delivered to their chain or not."""
        return self.decided + self.delivered


class HumanStepList(Contract):
    """A list of human task steps."""

    steps: list[HumanStep]


class NewLink(Contract):
    """A request for a link to the page of a step.

    Attributes:
        days: How long the link is valid, at most as long as the template allows.
        mine: Whether the link is for the signed-in person who creates it, for one browser and for a
            day.
    """

    days: Annotated[int, Field(ge=1, le=MAX_LINK_DAYS)] = 1
    mine: bool = False


class AskLink(Contract):
    """A link that opens the page of a step.

    Attributes:
        person: The only person who may use it.
        url: The address with the key. Only the answer that creates the link has it.
        browsers: The number of browsers whose last visit used this link.
        votes: The number of these browsers, where browsers of one origin count once.
        answers: The number of answers of these browsers.
    """

    uid: UUID
    person: str | None = None
    created_by: str
    created_at: Timestamp
    expires_at: Timestamp
    ended_at: Timestamp | None = None
    url: str | None = None
    browsers: int = 0
    votes: int = 0
    answers: int = 0

    def opens(self, now: Timestamp) -> bool:
        """Return whether the link is valid at the given time."""
        return self.ended_at is None and now < self.expires_at


class AskLinks(Contract):
    """A list of links."""

    links: list[AskLink]


class AskBrowser(Contract):
    """A browser in which an annotator answers a step, and the quality of its answers.

    Attributes:
        user_agent: What the browser says of itself.
        answer_count: The number of its answers.
        gold: How many gold items it answered right, of how many.
        peers: How often it agreed with others, of how many items.
        score: A browser whose score exceeds the limit is excluded automatically.
        limit: The limit of the score.
        seconds: The median time of its answers.
        set_by: The person who decided on its exclusion.
        same_vote_browsers: The number of other browsers that share its vote on an item.
        link_uid: The link of its last visit.
    """

    uid: UUID
    person: str | None = None
    user_agent: str
    first_at: Timestamp
    last_at: Timestamp
    answer_count: int
    gold: tuple[int, int]
    peers: tuple[int, int]
    score: float
    limit: float
    seconds: float
    state: BrowserState
    reason: str = ""
    set_by: str | None = None
    same_vote_browsers: int = 0
    link_uid: UUID | None = None


class AskBrowsers(Contract):
    """A list of browsers that answer a step."""

    browsers: list[AskBrowser]


class SetBrowserState(Contract):
    """A request to exclude a browser or to count its answers again.

    No answer of an excluded browser counts. Otherwise all its answers count. Results that the WMS
    already has do not change.
    """

    state: BrowserState
    reason: Annotated[str, Field(max_length=500)] = ""


class ExportedAnswer(Contract):
    """One answer, with the decision on its item.

    Attributes:
        known: The known answer of a gold item.
        counted: Whether the answer counts.
    """

    task_uid: UUID
    number: int
    item: str
    known: str | None = None
    state: AskItemState
    decided: str | None = None
    browser_uid: UUID
    person: str | None = None
    answer: str
    answered_at: Timestamp
    seconds: float
    counted: bool
