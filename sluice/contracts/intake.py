"""Requests and answers of the intake: what became of data sets that fit no template."""

from uuid import UUID

from pydantic import Field

from sluice.contracts.base import Contract, Timestamp
from sluice.contracts.problems import Finding


class Unmatched(Contract):
    """A closed data set that no chain carries, and why; ``findings`` where there are several reasons."""

    dataset_uid: UUID
    dataset_name: str
    reason: str
    findings: list[Finding] = Field(default_factory=list)
    since: Timestamp


class UnmatchedList(Contract):
    """Newest first."""

    datasets: list[Unmatched]


class Rematch(Contract):
    """``POST /rematch``: match this data set again, after a template was added or changed."""

    dataset_uid: UUID


class Rematched(Contract):
    """``template``: name of the template found, None where there is none; ``reason`` says why."""

    template: str | None
    reason: str = ""
