"""Requests and answers of the intake: what became of data sets that fit no template."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from sluice.contracts.base import Contract, Timestamp, absent
from sluice.contracts.datasets import Dataset
from sluice.contracts.problems import Finding


class Objection(Contract):
    """Why a template does not take a data set; ``reason`` empty: it would take it now."""

    template: str
    version: int
    reason: str = ""


class Unmatched(Contract):
    """A closed data set that no chain carries, and why; ``findings`` where there are several
    reasons."""

    dataset_uid: UUID
    dataset_name: str
    reason: str
    findings: list[Finding] = Field(default_factory=list)
    since: Timestamp
    #: As it was when it was decided upon; None where an earlier release decided.
    dataset: Annotated[Dataset | None, Field(exclude_if=absent)] = None
    #: What today's templates make of it, those that would take it first (from the operator service
    #: only).
    objections: Annotated[list[Objection] | None, Field(exclude_if=absent)] = None


class UnmatchedList(Contract):
    """Newest first; ``total``: how many there are, also beyond the limit."""

    datasets: list[Unmatched]
    total: Annotated[int | None, Field(exclude_if=absent)] = None


class WaitingHandover(Contract):
    """``reason``: why the chain of a data set that a template takes has not begun; None: nothing
    waits."""

    reason: str | None = None


class Dismissed(Contract):
    """``DELETE /unmatched``: how many data sets are not listed as unmatched any more."""

    dismissed: int


class Rematch(Contract):
    """``POST /rematch``: match this data set again, after a template was added or changed."""

    dataset_uid: UUID


class Rematched(Contract):
    """``template``: name of the template found, None where there is none; ``reason`` says why."""

    template: str | None
    reason: str = ""


class RematchedAll(Contract):
    """``POST /rematch-all``. ``matched``: data sets that a template takes now. ``gone``: forgotten,
    as they were deleted. ``left``: still unmatched."""

    matched: int
    gone: int
    left: int


class Tie(Contract):
    """Two templates of one priority that match the same data sets: ``template`` gets them, being
    the first by name."""

    template_id: UUID
    template: str
    rival_id: UUID
    rival: str
    priority: int
    #: How many data sets both matched so far, and the last of them.
    datasets: int
    dataset_uid: UUID
    dataset_name: str
    at: Timestamp


class TieList(Contract):
    """Between templates as they are now; the latest first."""

    ties: list[Tie]
