"""What people see and change who watch a step that asks."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from sluice.contracts.ask import MOST_LINK_DAYS
from sluice.contracts.base import Contract, Timestamp, absent
from sluice.contracts.states import AskItemState, DeviceStanding


class AskingStep(Contract):
    """``items``: by state. ``seconds``: that half of the answers took at most. ``link``: days for
    which a link may open it; None: only who is signed in may answer. ``reason``: why no more items
    are taken in."""

    template: str
    step: str
    group: str
    question: str
    answers: list[str]
    link: Annotated[int | None, Field(exclude_if=absent)] = None
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
        return self.items.get(AskItemState.OPEN, 0)

    @property
    def decided(self) -> int:
        """Agreed on, and not yet with its chain."""
        return sum(
            self.items.get(state, 0) for state in (AskItemState.DECIDED, AskItemState.GIVING)
        )

    @property
    def finished(self) -> int:
        return self.items.get(AskItemState.GIVEN, 0)

    @property
    def done(self) -> int:
        return self.decided + self.finished


class AskingSteps(Contract):
    steps: list[AskingStep]


class NewLink(Contract):
    """``days``: that it opens the page; at most as many as the template says. ``mine``: it is for
    whoever makes it alone, who is signed in: one browser, for a day."""

    days: Annotated[int, Field(ge=1, le=MOST_LINK_DAYS)] = 1
    mine: bool = False


class AskLink(Contract):
    """``url``: with its key, which is told once; left out afterwards. ``person``: who alone it is
    for. ``browsers``: that came by it last; those of one origin count once among the ``votes``.
    ``answers``: that these browsers gave."""

    uid: UUID
    person: Annotated[str | None, Field(exclude_if=absent)] = None
    created_by: str
    created_at: Timestamp
    expires_at: Timestamp
    ended_at: Timestamp | None = None
    url: Annotated[str | None, Field(exclude_if=absent)] = None
    browsers: int = 0
    votes: int = 0
    answers: int = 0

    def opens(self, now: Timestamp) -> bool:
        return self.ended_at is None and now < self.expires_at


class AskLinks(Contract):
    links: list[AskLink]


class AskDevice(Contract):
    """``gold``: how many items with known answers it answered right, of how many; ``peers``: how
    often it agreed with the others, likewise. ``score``: above ``limit`` it is excluded by itself.
    ``seconds``: that half of its answers took at most. ``set_by``: who has decided about it.
    ``alike``: other browsers of the step that came from the same origin, with which it has one
    vote on an item. ``link_uid``: by which it came last."""

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
    standing: DeviceStanding
    reason: str = ""
    set_by: str | None = None
    alike: int = 0
    link_uid: UUID | None = None


class AskDevices(Contract):
    devices: list[AskDevice]


class SetStanding(Contract):
    """Excluded, none of its answers counts; all that were given count again otherwise. What was
    given to the WMS before stays as it is."""

    standing: DeviceStanding
    reason: Annotated[str, Field(max_length=500)] = ""


class ExportedAnswer(Contract):
    """One answer, with what was decided on its item. ``known``: where that was known before."""

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
