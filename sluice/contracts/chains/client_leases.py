"""Leases of clients (REST): what a waiting command owns is ended when nobody renews its lease."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from sluice.contracts.common.base import Contract, Timestamp

#: The most objects of each kind that one client owns.
MAX_OWNED = 10_000

OwnedUids = Annotated[list[UUID], Field(max_length=MAX_OWNED)]


class RenewClientLease(Contract):
    """A request to renew the lease of a client, with all objects that it owns now.

    Attributes:
        datasets: Data sets that it registered and that none of its chains has as input.
        discard: The data of finished chains is deleted, too.
    """

    chains: OwnedUids = Field(default_factory=list)
    datasets: OwnedUids = Field(default_factory=list)
    run_templates: OwnedUids = Field(default_factory=list)
    discard: bool = False


class RenewedLease(Contract):
    """A client lease.

    Attributes:
        seconds: How long it lasts without a renewal.
    """

    uid: UUID
    expires_at: Timestamp
    seconds: float
