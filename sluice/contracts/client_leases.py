"""Leases of clients (REST): what a waiting command owns is ended when nobody renews its lease."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from sluice.contracts.base import Contract, Timestamp

#: Things of each kind that one client owns.
MAX_OWNED = 10_000

Owned = Annotated[list[UUID], Field(max_length=MAX_OWNED)]


class RenewClientLease(Contract):
    """All that the client owns now. ``datasets``: those that it brought in, and that no chain of
    it has as its input. ``discard``: the data of chains that have finished go as well."""

    chains: Owned = Field(default_factory=list)
    datasets: Owned = Field(default_factory=list)
    run_templates: Owned = Field(default_factory=list)
    discard: bool = False


class RenewedLease(Contract):
    """``seconds``: how long it lasts without being renewed."""

    uid: UUID
    expires_at: Timestamp
    seconds: float
