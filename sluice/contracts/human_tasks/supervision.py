"""The progress of human tasks, for the people who supervise them."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from sluice.contracts.common.base import Contract, Timestamp
from sluice.contracts.common.states import AskItemState, DeviceState
from sluice.contracts.human_tasks.ask import MAX_LINK_DAYS


class HumanStep(Contract):
    """The progress of one human task step.

    Attributes:
        link: The number of days for which a link may open the page. None means that annotators must
            sign in.
        items: The number of items by state.
        seconds: The median time of an answer.
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
    given: int
    last_hour: int
    seconds: float
    devices: int
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
            self.items.get(state, 0) for state in (AskItemState.DECIDED, AskItemState.GIVING)
        )

    @property
    def finished(self) -> int:
        """Return the number of items that were given to their chain."""
        return self.items.get(AskItemState.GIVEN, 0)

    @property
    def done(self) -> int:
        """Return the number of items that are decided, given to their chain or not."""
        return self.decided + self.finished


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


class AskDevice(Contract):
    """A browser that answers a step, and the quality of its answers.

    Attributes:
        gold: How many gold items it answered right, of how many.
        peers: How often it agreed with others, of how many items.
        score: A browser whose score exceeds the limit is excluded automatically.
        limit: The limit of the score.
        seconds: The median time of its answers.
        set_by: The person who decided on its exclusion.
        alike: The number of other browsers of the same origin, which share one vote on an item.
        link_uid: The link of its last visit.
    """

    uid: UUID
    person: str | None = None
    browser: str
    first_at: Timestamp
    last_at: Timestamp
    given: int
    gold: tuple[int, int]
    peers: tuple[int, int]
    score: float
    limit: float
    seconds: float
    state: DeviceState
    reason: str = ""
    set_by: str | None = None
    alike: int = 0
    link_uid: UUID | None = None


class AskDevices(Contract):
    """A list of browsers that answer a step."""

    devices: list[AskDevice]


class SetDeviceState(Contract):
    """A request to exclude a browser or to count its answers again.

    No answer of an excluded browser counts. Otherwise all its answers count. Results that the WMS
    already has do not change.
    """

    state: DeviceState
    reason: Annotated[str, Field(max_length=500)] = ""


class ExportedAnswer(Contract):
    """One answer, with the decision on its item.

    Attributes:
        known: The known answer of a gold item.
    """

    task_uid: UUID
    number: int
    item: str
    known: str | None = None
    state: AskItemState
    decided: str | None = None
    device_uid: UUID
    person: str | None = None
    answer: str
    answered_at: Timestamp
    seconds: float
    counts: bool
