"""Owners of objects: the person who created an object, and the group that it belongs to."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, Field

from sluice.contracts.common.base import Contract
from sluice.contracts.common.wording import name_rule

#: The group that everybody is in, even without an account.
EVERYONE = "everyone"
#: Maximum number of groups of a person, and of groups that an object is shared with.
MAX_GROUPS = 50


GroupName = Annotated[
    str,
    name_rule("the name of a group", first="a-z0-9", other="a-z0-9._-", max_length=100),
]


def _each_once(names: list[str]) -> list[str]:
    return list(dict.fromkeys(names))


GroupNames = Annotated[list[GroupName], Field(max_length=MAX_GROUPS), AfterValidator(_each_once)]

Owner = Annotated[
    str | None,
    Field(
        max_length=200,
        description="The person who created it. Only services may set it for others.",
    ),
]
OwnerGroup = Annotated[
    GroupName,
    Field(description="The group whose members see and change it."),
]
SharedWith = Annotated[GroupNames, Field(description="Other groups whose members see it.")]


class Share(Contract):
    """A request to share an object with groups, for reading.

    Attributes:
        shared_with: The groups, which replace the former groups.
        group: The new owner group. None means that it does not change.
    """

    shared_with: GroupNames
    group: GroupName | None = None


@dataclass(frozen=True, slots=True)
class Visibility:
    """What a principal may see.

    Attributes:
        groups: The groups of the principal. None means that everything is visible.
    """

    groups: frozenset[str] | None = None

    def sees(self, group: str, shared_with: Iterable[str] = ()) -> bool:
        """Return whether an object of ``group``, shared with other groups, is visible."""
        return self.is_member(group) or any(map(self.is_member, shared_with))

    def is_member(self, group: str) -> bool:
        """Return whether the principal is in a group, or sees everything."""
        return self.groups is None or group in self.groups

    def names(self) -> list[str] | None:
        """Return the groups for an SQL statement, or None if it must not filter."""
        return None if self.groups is None else sorted(self.groups)


def may_take(template_group: str, dataset_group: str, shared_with: Iterable[str]) -> bool:
    """Return whether a template may take data sets without a request.

    Its group must see the data set, or the template must belong to everyone.
    """
    return template_group == EVERYONE or visibility([template_group]).sees(
        dataset_group, shared_with
    )


def may_take_away(data_group: str, chain_group: str) -> bool:
    """Return whether a chain may delete data that it has used.

    The data must belong to the group of the chain, or to everyone. Shared data is shared for
    reading only.
    """
    return data_group in {chain_group, EVERYONE}


def group_of_chain(template_group: str, dataset_group: str) -> str:
    """Return the group of a chain that starts without a request.

    This is the group of the template. If the template belongs to everyone, it is the group of the
    data set.
    """
    return dataset_group if template_group == EVERYONE else template_group


#: The visibility of services, administrators, and everybody if authentication is off.
ALL = Visibility()


def visibility(groups: Iterable[str]) -> Visibility:
    """Return the visibility of a person in these groups and in ``EVERYONE``."""
    return Visibility(frozenset({EVERYONE, *groups}))
