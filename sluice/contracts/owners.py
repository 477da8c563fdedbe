"""Whose something is: the person that made it, and the group whose it is."""

import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from sluice.contracts.base import Contract, absent
from sluice.contracts.wording import StringRule

#: The group that everybody is in, also who has no account.
EVERYONE = "everyone"
#: Groups that a person is in, and that something is shared with.
MOST_GROUPS = 50


def _everyones(group: object) -> bool:
    return group == EVERYONE


GroupName = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,99}$"),
    StringRule(
        "the name of a group",
        first="[a-z0-9]",
        other="[a-z0-9._-]",
        most=100,
        rule=(
            "has small letters (a to z), digits and ._- only, at most 100, and begins with a"
            " letter or digit"
        ),
    ),
]


def _each_once(names: list[str]) -> list[str]:
    return list(dict.fromkeys(names))


GroupNames = Annotated[list[GroupName], Field(max_length=MOST_GROUPS), AfterValidator(_each_once)]

#: Fields are left out where they say nothing, as the release before does not know them.
Owner = Annotated[
    str | None,
    Field(
        max_length=200,
        exclude_if=absent,
        description="The person that made it; services say so for others.",
    ),
]
OwnerGroup = Annotated[
    GroupName, Field(exclude_if=_everyones, description="Whose members see and change it.")
]
SharedWith = Annotated[
    GroupNames, Field(exclude_if=operator.not_, description="Groups whose members see it, too.")
]


class Share(Contract):
    """What is shared from now on with these groups, and no others, for reading. ``group``: whose it
    is from now on; None: as before."""

    shared_with: GroupNames
    group: GroupName | None = None


@dataclass(frozen=True, slots=True)
class Visibility:
    """What somebody sees. ``groups``: those that he is in; None: everything is his to see."""

    groups: frozenset[str] | None = None

    def sees(self, group: str, shared_with: Iterable[str] = ()) -> bool:
        """What is the ``group``'s, and shown to others."""
        return self.is_member(group) or any(map(self.is_member, shared_with))

    def is_member(self, group: str) -> bool:
        return self.groups is None or group in self.groups

    def names(self) -> list[str] | None:
        """For a statement; None: it leaves nothing out."""
        return None if self.groups is None else sorted(self.groups)


def may_take(template_group: str, dataset_group: str, shared_with: Iterable[str]) -> bool:
    """Whether data sets go through a template by themselves: its group sees them, or it is
    everybody's."""
    return template_group == EVERYONE or visibility([template_group]).sees(
        dataset_group, shared_with
    )


def may_take_away(data_group: str, chain_group: str) -> bool:
    """Whether data goes with the chain that has used it up: it is the chain's group's, or
    everybody's. What is shared is shared for reading."""
    return data_group in {chain_group, EVERYONE}


def group_of_chain(template_group: str, dataset_group: str) -> str:
    """Whose a chain is that begins by itself: the template's, or where that is everybody's, the
    data set's."""
    return dataset_group if template_group == EVERYONE else template_group


#: Of services, administrators, and whoever asks where nobody has to say who he is.
ALL = Visibility()


def visibility(groups: Iterable[str]) -> Visibility:
    """Of a person who is in them, and with everybody in ``EVERYONE``."""
    return Visibility(frozenset({EVERYONE, *groups}))
