"""Groups: their members, fair shares and quotas."""

from typing import Annotated

from pydantic import Field

from sluice.contracts.access.owners import GroupName
from sluice.contracts.access.quotas import Quotas, SetQuotas
from sluice.contracts.common.base import Contract

Weight = Annotated[float, Field(ge=0.001, le=1000, strict=True)]

#: The weight of a group for which nobody has set one.
USUAL_WEIGHT = 1.0


class GroupShare(Contract):
    """The fair share of a group in the WMS.

    Attributes:
        weight: Groups with work for the same nodes share them in proportion to this number.
        running: The number of jobs that pilots have.
    """

    group: GroupName
    weight: Weight = USUAL_WEIGHT
    running: int = 0


class GroupShares(Contract):
    """The fair shares of groups."""

    shares: list[GroupShare]


class SetShare(Contract):
    """A request to set the weight of a group."""

    weight: Weight


class Group(Quotas):
    """A group with its quotas.

    Attributes:
        members: The names of its members. Only administrators and members see them.
        running: The number of jobs that pilots have.
    """

    name: GroupName
    members: list[str] = Field(default_factory=list)
    weight: Weight = USUAL_WEIGHT
    running: int = 0


class GroupList(Contract):
    """A list of groups, ordered by name."""

    groups: list[Group]


class SetGroup(SetQuotas):
    """A request to change a group."""

    weight: Weight | None = None
