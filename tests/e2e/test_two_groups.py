"""Two groups on the stack: each service is a process of its own, and neither group sees the other's
data unless it is shared."""

import re

import pytest

from tests.attacks.two_groups import MARK, Belongings, Member, got, member, work_of
from tests.e2e.stack_system import StackSystem
from tests.unit.access.table import rows

pytestmark = [
    pytest.mark.xdist_group("e2e-stack"),
    pytest.mark.long("tests/attacks/test_groups.py asks for every route of one process tree"),
]


def asked_for(hers: Belongings) -> list[str]:
    """Everything of hers that the operator service shows to who is in her group, and all lists."""
    found = [
        hers.address(row) or row.address
        for row in rows()
        if row.service == "wfms.operator" and row.method == "GET" and row.lets("shift")
    ]
    return [address for address in found if "{" not in address]


def shown(who: Member, address: str) -> bool:
    """Does it say more than what was asked for?"""
    answer = who.ask("GET", address)
    assert answer.status_code < 500, (address, answer.text)
    text = answer.content.decode("latin-1")
    for part in re.findall(rf"[^/?=&]*{MARK}[^/?=&]*", address):
        text = text.replace(part, "")
    return MARK in text


def test_neither_sees_the_other_s_data_unless_it_is_shared(stack: StackSystem) -> None:
    hers = work_of(stack, member(stack, "alpha"))
    colleague, stranger = member(stack, "alpha"), member(stack, "beta")
    addresses = asked_for(hers)
    assert sum(shown(colleague, address) for address in addresses) > 15
    assert [address for address in addresses if shown(stranger, address)] == []
    path = f"/api/v1/datasets/{hers.dataset}"
    assert stranger.ask("GET", path).status_code == 404
    got(hers.owner.ask("PUT", f"{path}/share", json={"shared_with": ["beta"]}))
    assert got(stranger.ask("GET", path))["uid"] == hers.dataset
    assert MARK in stranger.ask("GET", f"{path}/files/{hers.file}/content").text
    assert stranger.ask("DELETE", path).status_code == 403
    got(hers.owner.ask("PUT", f"{path}/share", json={"shared_with": []}))
    assert stranger.ask("GET", path).status_code == 404
