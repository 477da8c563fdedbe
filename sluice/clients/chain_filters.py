"""Filters of a list of chains."""

from collections.abc import Sequence
from typing import TypedDict
from uuid import UUID

from sluice.contracts.chains import ListedState
from sluice.contracts.states import ChainState


class ChainFilters(TypedDict, total=False):
    """Which chains are listed; what is None or missing does not restrict them.

    Attributes:
        state: Only those in this state; incomplete: those that finished although jobs failed.
        dataset_uid: Only those whose input it is.
        template: Only those of any version of the template of this name.
        owner: Only those of this account.
        meta: ``KEY=VALUE`` of the input's metadata, each of which has to hold.
    """

    state: ChainState | ListedState | None
    dataset_uid: UUID | None
    template: str | None
    owner: str | None
    meta: Sequence[str] | None
