"""Groups: who is in them, their share of the nodes, and what they may have."""

from typing import Annotated

from pydantic import Field

from sluice.contracts.base import Contract
from sluice.contracts.owners import GroupName
from sluice.contracts.quotas import Quotas, SetQuotas

Weight = Annotated[float, Field(ge=0.001, le=1000, strict=True)]

#: Of a group of which nothing was said.
USUAL_WEIGHT = 1.0


class GroupShare(Contract):
    """Of one group in the WMS. ``weight``: where several groups have work for the same nodes, each
    gets as much of them as its weight is of all of theirs. ``running``: jobs that pilots have."""

    group: GroupName
    weight: Weight = USUAL_WEIGHT
    running: int = 0


class GroupShares(Contract):
    shares: list[GroupShare]


class SetShare(Contract):
    weight: Weight


class Group(Quotas):
    """``members``: their names, for administrators and for who is in it. ``running``: jobs that
    pilots have."""

    name: GroupName
    members: list[str] = Field(default_factory=list)
    weight: Weight = USUAL_WEIGHT
    running: int = 0


class GroupList(Contract):
    """By name."""

    groups: list[Group]


class SetGroup(SetQuotas):
    weight: Weight | None = None
