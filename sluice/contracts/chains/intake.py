"""Requests and answers of the intake, which matches closed data sets with templates."""

from uuid import UUID

from pydantic import Field

from sluice.contracts.common.base import Contract, Timestamp
from sluice.contracts.common.problems import Finding
from sluice.contracts.data.datasets import Dataset


class RejectionReason(Contract):
    """The reason why a template does not take a data set.

    ``reason`` is empty if the template would take the data set now.
    """

    template: str
    version: int
    reason: str = ""


class Unmatched(Contract):
    """A closed data set that no template took, and the reason.

    ``findings`` lists the reasons if there are several.
    """

    dataset_uid: UUID
    dataset_name: str
    reason: str
    findings: list[Finding] = Field(default_factory=list)
    since: Timestamp
    #: The data set at the time of the decision. None if an earlier release decided.
    dataset: Dataset | None = None
    #: The reasons of the current templates, first those of templates that would take the data set.
    #: Only the operator service fills this field.
    rejection_reasons: list[RejectionReason] | None = None


class UnmatchedList(Contract):
    """Unmatched data sets, the newest first.

    ``total`` is the number of all unmatched data sets, also of those beyond the limit.
    """

    datasets: list[Unmatched]
    total: int | None = None


class WaitingHandover(Contract):
    """The reason why the chain of a matched data set has not started.

    ``reason`` is None if nothing waits.
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

    ``template`` is the name of the template that takes the data set. Without one, it is None, and
    ``reason`` says why.
    """

    template: str | None
    reason: str = ""


class RematchedAll(Contract):
    """The numbers of data sets after all unmatched ones were matched again.

    ``matched`` data sets have a template now. ``gone`` data sets were deleted and are no longer
    listed. ``left`` data sets are still unmatched.
    """

    matched: int
    gone: int
    left: int


class Tie(Contract):
    """Two templates of the same priority that match the same data sets.

    ``template`` gets the data sets, because its name comes first in alphabetical order.
    """

    template_id: UUID
    template: str
    other_id: UUID
    other: str
    priority: int
    #: The number of data sets that both templates matched. The next three fields describe the last.
    datasets: int
    dataset_uid: UUID
    dataset_name: str
    at: Timestamp


class TieList(Contract):
    """Ties between the current versions of templates, the latest first."""

    ties: list[Tie]
