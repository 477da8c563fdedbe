"""Who sees what is a group's, and whose a chain is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sluice.contracts.access import Role
from sluice.contracts.datasets import NewDataset
from sluice.contracts.owners import ALL, EVERYONE, Share, group_of_chain, may_take, visibility
from sluice.contracts.problems import Forbidden
from sluice.servicekit.access.ownership import Ownership, ownership
from sluice.servicekit.access.principal import Person

GROUPS = st.sampled_from([EVERYONE, "a", "b", "c"])


@given(st.lists(GROUPS), GROUPS, st.lists(GROUPS))
def test_members_see_what_is_theirs_and_what_is_shared_with_them(
    own: list[str], group: str, shared: list[str]
) -> None:
    mine = {EVERYONE, *own}
    assert visibility(own).is_member(group) == (group in mine)
    assert visibility(own).sees(group, shared) == bool({group, *shared} & mine)
    assert ALL.sees(group, shared)
    assert ALL.is_member(group)


@given(GROUPS, GROUPS, st.lists(GROUPS))
def test_whoever_sees_a_chain_that_begins_by_itself_may_see_its_data(
    template: str, dataset: str, shared: list[str]
) -> None:
    """And its template: nobody comes to see data by a rule of his."""
    if not may_take(template, dataset, shared):
        return
    of_chain = visibility([group_of_chain(template, dataset)])
    assert of_chain.sees(dataset, shared)
    assert of_chain.is_member(template)


def test_a_templates_group_takes_its_own_data_everybodys_and_what_is_shared_with_it() -> None:
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


def test_what_a_person_makes_is_his_and_his_first_groups() -> None:
    anna, bert = Person("anna", Role.SUBMITTER, ("b", "a")), Person("bert", Role.VIEWER)
    assert ownership(anna, owner=None, group=None) == Ownership("anna", "b")
    assert ownership(anna, owner="anna", group="a") == Ownership("anna", "a")
    assert ownership(anna, owner=None, group=EVERYONE) == Ownership("anna", EVERYONE)
    assert ownership(bert, owner=None, group=None) == Ownership("bert", EVERYONE)
    assert ownership(None, owner="anna", group="c") == Ownership("anna", "c")
    assert ownership(None, owner=None, group=None) == Ownership(None, EVERYONE)
    with pytest.raises(Forbidden, match=r"not in the group c \(you are in b, a, everyone\)"):
        ownership(anna, owner=None, group="c")
    with pytest.raises(Forbidden, match="what you make is yours, not bert's"):
        ownership(anna, owner="bert", group=None)
    root = Person("root", Role.ADMIN)
    assert ownership(root, owner=None, group="c") == Ownership("root", "c")


@pytest.mark.parametrize("name", ["", "A", "a b", "-a", "a" * 101, "a\n"])
def test_a_group_has_a_plain_name(name: str) -> None:
    with pytest.raises(ValidationError):
        Share(shared_with=[name])
    with pytest.raises(ValidationError):
        NewDataset(name="x", group=name)
