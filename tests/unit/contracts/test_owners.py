"""Visibility of objects of groups, and ownership of chains."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sluice.contracts.access.access import Role
from sluice.contracts.access.owners import (
    ALL,
    EVERYONE,
    Share,
    group_of_chain,
    may_take,
    visibility,
)
from sluice.contracts.common.problems import Forbidden
from sluice.contracts.data.datasets import NewDataset
from sluice.servicekit.access.ownership import Ownership, ownership
from sluice.servicekit.access.principal import Person

GROUPS = st.sampled_from([EVERYONE, "a", "b", "c"])


@given(st.lists(GROUPS), GROUPS, st.lists(GROUPS))
def test_members_see_their_own_and_shared_objects(
    own: list[str], group: str, shared: list[str]
) -> None:
    mine = {EVERYONE, *own}
    assert visibility(own).is_member(group) == (group in mine)
    assert visibility(own).sees(group, shared) == bool({group, *shared} & mine)
    assert ALL.sees(group, shared)
    assert ALL.is_member(group)


@given(GROUPS, GROUPS, st.lists(GROUPS))
def test_members_who_see_an_automatic_chain_may_see_its_data_and_template(
    template: str, dataset: str, shared: list[str]
) -> None:
    """A template must not reveal data to people who may not see the data."""
    if not may_take(template, dataset, shared):
        return
    of_chain = visibility([group_of_chain(template, dataset)])
    assert of_chain.sees(dataset, shared)
    assert of_chain.is_member(template)


def test_template_takes_data_of_its_group_of_everyone_and_shared_with_it() -> None:
    assert may_take("a", "a", ())
    assert may_take("a", EVERYONE, ())
    assert may_take("a", "b", ["a"])
    assert may_take("a", "b", [EVERYONE])
    assert may_take(EVERYONE, "b", ())
    assert not may_take("a", "b", ())
    assert not may_take("a", "b", ["c"])
    assert group_of_chain(EVERYONE, "b") == "b"
    assert group_of_chain("a", EVERYONE) == "a"
    assert group_of_chain("a", "b") == "a"


def test_new_object_belongs_to_its_maker_and_the_first_group() -> None:
    anna, bert = Person("anna", Role.SUBMITTER, ("b", "a")), Person("bert", Role.VIEWER)
    assert ownership(anna, owner=None, group=None) == Ownership("anna", "b")
    assert ownership(anna, owner="anna", group="a") == Ownership("anna", "a")
    assert ownership(anna, owner=None, group=EVERYONE) == Ownership("anna", EVERYONE)
    assert ownership(bert, owner=None, group=None) == Ownership("bert", EVERYONE)
    assert ownership(None, owner="anna", group="c") == Ownership("anna", "c")
    assert ownership(None, owner=None, group=None) == Ownership(None, EVERYONE)
    with pytest.raises(Forbidden, match=r"not in the group c \(you are in b, a, everyone\)"):
        ownership(anna, owner=None, group="c")
    with pytest.raises(Forbidden, match="objects that you create are yours, not bert's"):
        ownership(anna, owner="bert", group=None)
    root = Person("root", Role.ADMIN)
    assert ownership(root, owner=None, group="c") == Ownership("root", "c")


@pytest.mark.parametrize("name", ["", "A", "a b", "-a", "a" * 101, "a\n"])
def test_invalid_group_name_is_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        Share(shared_with=[name])
    with pytest.raises(ValidationError):
        NewDataset(name="x", group=name)
