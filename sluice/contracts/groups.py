"""Groups: who is in them, their share of the nodes, and what they may have."""

from typing import Annotated, Literal

from pydantic import Field

from sluice.contracts.base import Contract
from sluice.contracts.owners import GroupName

Weight = Annotated[float, Field(gt=0, le=1_000_000)]
Most = Annotated[int, Field(ge=0, le=2**53)]

#: Of a group of which nothing was said.
USUAL_WEIGHT = 1.0


class GroupShare(Contract):
    """Of one group in the WMS. ``weight``: where several groups have work for the same nodes, each
    gets as much of them as its weight is of all of theirs. ``running``: jobs that pilots have;
    ``waiting``: that are to be given away."""

    group: GroupName
    weight: Weight = USUAL_WEIGHT
    running: int = 0
    waiting: int = 0


class GroupShares(Contract):
    shares: list[GroupShare]


class SetShare(Contract):
    weight: Weight


class Quota(Contract):
    """How much of something a group has, and may have. ``most``: None: as much as there is."""

    used: int = 0
    most: int | None = None

    def leaves(self, more: int) -> bool:
        """Is there room for so many more?"""
        return self.most is None or self.used + more <= self.most


class GroupData(Contract):
    """Of one group in the DMS: its data sets that are not deleted. ``bytes`` and ``files`` of what
    people register are bounded; what jobs write is counted."""

    group: GroupName
    bytes: Quota = Quota()
    files: Quota = Quota()


class GroupDataList(Contract):
    groups: list[GroupData]


#: As much as there is.
UNBOUNDED = "none"
_MostSaid = Most | Literal["none"] | None


class SetGroupData(Contract):
    """What is null, or left out, stays; `none`: as much as there is."""

    bytes: _MostSaid = None
    files: _MostSaid = None


class GroupChains(Contract):
    """Of one group in the chain service: chains that have not ended."""

    group: GroupName
    chains: Quota = Quota()


class GroupChainsList(Contract):
    groups: list[GroupChains]


class SetGroupChains(Contract):
    """None: as many as there are."""

    chains: Most | None


class Group(Contract):
    """``members``: their names, for administrators and for who is in it."""

    name: GroupName
    members: list[str] = Field(default_factory=list)
    weight: Weight = USUAL_WEIGHT
    running: int = 0
    waiting: int = 0
    chains: Quota = Quota()
    bytes: Quota = Quota()
    files: Quota = Quota()


class GroupList(Contract):
    """By name."""

    groups: list[Group]


class SetGroup(Contract):
    """What is null, or left out, stays; `none`: as much as there is."""

    weight: Weight | None = None
    chains: _MostSaid = None
    bytes: _MostSaid = None
    files: _MostSaid = None
