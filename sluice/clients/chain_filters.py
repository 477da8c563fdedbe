"""Filters of a list of chains."""

from collections.abc import Sequence
from typing import TypedDict
from uuid import UUID

from sluice.contracts.chains.chains import ChainListState
from sluice.contracts.common.states import ChainState


class ChainFilters(TypedDict, total=False):
    """Filters of a list of chains. A filter that is None or missing does not apply.

    Attributes:
        state: Chains in this state. ``incomplete`` means finished with failed jobs.
        dataset_uid: Chains with this input.
        template: Chains of any version of the template of this name.
        owner: Chains of this account.
        meta: ``KEY=VALUE`` pairs of the input's metadata, all of which must match.
    """

    state: ChainState | ChainListState | None
    dataset_uid: UUID | None
    template: str | None
    owner: str | None
    meta: Sequence[str] | None
