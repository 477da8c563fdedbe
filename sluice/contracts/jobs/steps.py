"""Steps across all chains: their waiting jobs and their priorities."""

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from sluice.contracts.chains.attention import PersonName
from sluice.contracts.common.base import Contract, Name, Timestamp
from sluice.contracts.common.bounds import NewText, NewWord
from sluice.contracts.common.wording import in_words

#: With this priority, no job of the step is leased.
DISABLED: Literal[-1] = -1
MAX_PRIORITY = 1e6


def _possible(priority: object) -> object:
    if isinstance(priority, int | float) and (
        priority == DISABLED or 0 <= priority <= MAX_PRIORITY
    ):
        return priority
    raise in_words(
        "a priority is a number from 0 to 1 000 000, which is added to the rank of the step's"
        " tasks, or -1, which disables the step"
    )


StepPriorityValue = Annotated[
    Literal[-1] | Annotated[float, Field(ge=0, le=MAX_PRIORITY)], BeforeValidator(_possible)
]


class SetStepPriority(Contract):
    """A new priority of a step across all chains.

    Attributes:
        priority: A number from 0 to 1000000, which is added to the ranks of the tasks of the step.
            -1: no job of the step is leased.
        template: The template of the step. None: the steps of this name in all templates.
        reason: Why the priority is set.
        by: The name of the person, as the client states it; it is not checked.
    """

    priority: StepPriorityValue
    template: Name | None = None
    reason: NewText = ""
    by: PersonName | None = None


class RankStep(SetStepPriority):
    """A new priority with the name of the step, as the WMS takes it."""

    step: Annotated[NewWord, Field(min_length=1)]


class StepPriority(Contract):
    """The priority of a step.

    Attributes:
        step: The name of the step.
        priority: The priority, as in ``SetStepPriority``.
        template: The template. None: all templates.
        reason: Why it was set.
        by: The name of the person who set it, if stated.
        since: When the step got this priority.
    """

    step: str
    priority: float
    template: str | None = None
    reason: str = ""
    by: str | None = None
    since: Timestamp

    @property
    def is_disabled(self) -> bool:
        """Whether no job of the step is leased."""
        return self.priority == DISABLED


class StepLoad(Contract):
    """The work of a step of a template across all chains.

    Attributes:
        step: The name of the step.
        template: The name of the template.
        tasks: The number of tasks that have not ended.
        waiting: The number of their ready jobs.
        flying: The number of their jobs that are leased or running.
        pilots: The number of pilots that have these jobs.
        oldest: Since when the first ready job waits.
        timed: The number of finished jobs of tasks that were created within the last day.
        mean: Mean seconds of these jobs.
        priority: The priority of the step. None: nobody has set one.
    """

    step: str
    template: str
    tasks: int = 0
    waiting: int = 0
    flying: int = 0
    pilots: int = 0
    oldest: Timestamp | None = None
    timed: int = 0
    mean: float | None = None
    priority: StepPriority | None = None

    @property
    def is_disabled(self) -> bool:
        """Whether no job of the step is leased."""
        return self.priority is not None and self.priority.is_disabled


class StepList(Contract):
    """Steps by name and template.

    Attributes:
        steps: The steps.
        priorities: All priorities, also of steps that have had no task lately.
    """

    steps: list[StepLoad]
    priorities: list[StepPriority] = Field(default_factory=list)


def find_priority(
    step: str, template: str, priorities: Iterable[StepPriority]
) -> StepPriority | None:
    """Return the priority that applies to a step of a template.

    A priority for the template overrides the one for all templates.
    """
    by_template = {priority.template: priority for priority in priorities if priority.step == step}
    return by_template.get(template, by_template.get(None))


def describe_disabled_step(priority: StepPriority) -> str:
    """Return a sentence about a disabled step."""
    by = f" by {priority.by}" if priority.by else ""
    where = f" in template {priority.template}" if priority.template else ""
    why = f" ({priority.reason})" if priority.reason else ""
    since = f"since {priority.since:%F %T}"
    return f"step {priority.step} is disabled{where}{by} {since}{why}: no job of it is given away"
