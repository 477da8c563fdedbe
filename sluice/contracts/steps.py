"""Steps over all chains: how much waits for each, and how they are ranked against one another."""

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from sluice.contracts.attention import PersonName
from sluice.contracts.base import Contract, Name, Timestamp, absent
from sluice.contracts.bounds import NewText, NewWord
from sluice.contracts.wording import in_words

#: The priority with which no job of a step is given to a pilot.
OFF: Literal[-1] = -1
MOST_PRIORITY = 1e6


def _possible(priority: object) -> object:
    if isinstance(priority, int | float) and (priority == OFF or 0 <= priority <= MOST_PRIORITY):
        return priority
    raise in_words(
        "a priority is a number from 0 to 1 000 000, which is added to the rank of the step's"
        " tasks, or -1, which switches the step off"
    )


StepPriorityValue = Annotated[
    Literal[-1] | Annotated[float, Field(ge=0, le=MOST_PRIORITY)], BeforeValidator(_possible)
]


class SetStepPriority(Contract):
    """``template``: only the step of this one; None: of all that have a step called so. ``by``: who
    says so: nobody logs in yet."""

    priority: StepPriorityValue
    template: Name | None = None
    reason: NewText = ""
    by: PersonName | None = None


class RankStep(SetStepPriority):
    """The same with the step's name (``PUT /steps`` of the WMS, which knows no templates)."""

    step: Annotated[NewWord, Field(min_length=1)]


class StepPriority(Contract):
    """What holds for a step. ``template`` None: it was set for all templates."""

    step: str
    priority: float
    template: str | None = Field(default=None, exclude_if=absent)
    reason: str = ""
    by: str | None = Field(default=None, exclude_if=absent)
    since: Timestamp

    @property
    def is_off(self) -> bool:
        return self.priority == OFF


class StepLoad(Contract):
    """A step of a template, over all chains. ``tasks``: that have not ended. Jobs of these:
    ``waiting`` (ready), ``flying`` (with ``pilots``). ``oldest``: since when the first of them
    waits. ``timed``: finished jobs of the last day, ``mean``: the seconds that they took.
    ``priority``: None: nobody has set one."""

    step: str
    template: str
    tasks: int = 0
    waiting: int = 0
    flying: int = 0
    pilots: int = 0
    oldest: Timestamp | None = None
    timed: int = 0
    mean: float | None = None
    priority: StepPriority | None = Field(default=None, exclude_if=absent)

    @property
    def is_off(self) -> bool:
        return self.priority is not None and self.priority.is_off


class StepList(Contract):
    """By name and template. ``priorities``: all that people have set, also for steps that have had
    no task lately."""

    steps: list[StepLoad]
    priorities: list[StepPriority] = Field(default_factory=list)


def priority_of(
    step: str, template: str, priorities: Iterable[StepPriority]
) -> StepPriority | None:
    """What holds for a step of a template: what is set for that one, else for all."""
    of_step = {found.template: found for found in priorities if found.step == step}
    return of_step.get(template, of_step.get(None))


def off_in_words(priority: StepPriority) -> str:
    """Of a step that is switched off."""
    by = f" by {priority.by}" if priority.by else ""
    where = f" in template {priority.template}" if priority.template else ""
    why = f" ({priority.reason})" if priority.reason else ""
    since = f"since {priority.since:%F %T}"
    return (
        f"step {priority.step} is switched off{where}{by} {since}{why}: no job of it is given away"
    )
