"""Requests and answers of the intake, which matches closed data sets with templates."""

from uuid import UUID

from pydantic import Field

from sluice.contracts.common.base import Contract, Timestamp
from sluice.contracts.common.problems import Finding
from sluice.contracts.data.datasets import Dataset


class RejectionReason(Contract):
    """The reason why a template does not take a data set.

    Attributes:
        reason: Empty if the template would take the data set now.
    """

    template: str
    version: int
    reason: str = ""


class Unmatched(Contract):
    """A closed data set that no template took, and the reason.

    Attributes:
        findings: The reasons, if there are several.
        dataset: The data set at the time of the decision. None if an earlier release decided.
        rejection_reasons: The reasons of the current templates. Templates that would take the data
            set come first. Only the operator service fills this field.
    """

    dataset_uid: UUID
    dataset_name: str
    reason: str
    findings: list[Finding] = Field(default_factory=list)
    since: Timestamp
    dataset: Dataset | None = None
    rejection_reasons: list[RejectionReason] | None = None


class UnmatchedList(Contract):
    """Unmatched data sets, the newest first.

    Attributes:
        total: The number of all unmatched data sets, including those beyond the limit.
    """

    datasets: list[Unmatched]
    total: int | None = None


class WaitingHandover(Contract):
    """The reason why the chain of a matched data set has not started.

    Attributes:
        reason: None if nothing waits.
    """

    reason: str | None = None


class Dismissed(Contract):
    """The number of data sets that ``DELETE /unmatched`` removed from the unmatched ones."""

    dismissed: int


class Rematch(Contract):
    """A request to match a data set again, after a template was added or changed."""

    dataset_uid: UUID


class Rematched(Contract):
    """The result of matching a data set again.

    Attributes:
        template: The name of the template that takes the data set. None if there is none.
        reason: Why no template takes the data set.
    """

    template: str | None
    reason: str = ""


class RematchedAll(Contract):
    """The numbers of data sets after all unmatched ones were matched again.

    Attributes:
        matched: Data sets that have a template now.
        gone: Data sets that were deleted and are no longer listed.
        left: Data sets that are still unmatched.
    """

    matched: int
    gone: int
    left: int


class Tie(Contract):
    """Two templates of the same priority that match the same data sets.

    Attributes:
        template: The template that gets the data sets, because its name comes first in alphabetical
            order.
        datasets: The number of data sets that both templates matched.
        dataset_uid: The last of these data sets.
        dataset_name: The name of the last data set.
        at: When the last data set was matched.
    """

    template_id: UUID
    template: str
    other_id: UUID
    other: str
    priority: int
    datasets: int
    dataset_uid: UUID
    dataset_name: str
    at: Timestamp


class TieList(Contract):
    """Ties between the current versions of templates, the latest first."""

    ties: list[Tie]
