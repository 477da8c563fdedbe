"""Two groups on the stack do not see each other's data unless the data are shared."""

import re

import pytest

from tests.attacks.access.two_groups import (
    MARK,
    GroupObjects,
    Member,
    create_group_objects,
    create_member,
    read_json,
)
from tests.e2e.stack_system import StackSystem
from tests.unit.access.table import read_rows

pytestmark = [
    pytest.mark.xdist_group("e2e-stack"),
    pytest.mark.long("tests/attacks/access/test_groups.py tests every route of an embedded system"),
]


def list_addresses(objects: GroupObjects) -> list[str]:
    """Return all addresses that show her objects to a member of her group."""
    addresses = [
        objects.fill_address(row) or row.address
        for row in read_rows()
        if row.service == "wfms.operator" and row.method == "GET" and row.lets("shift")
    ]
    return [address for address in addresses if "{" not in address]


def shows_objects(member: Member, address: str) -> bool:
    """Return whether an answer shows more of the objects than the address itself."""
    answer = member.ask("GET", address)
    assert answer.status_code < 500, (address, answer.text)
    text = answer.content.decode("latin-1")
    for part in re.findall(rf"[^/?=&]*{MARK}[^/?=&]*", address):
        text = text.replace(part, "")
    return MARK in text


def test_groups_see_only_their_own_and_shared_data(stack: StackSystem) -> None:
    objects = create_group_objects(stack, create_member(stack, "alpha"))
    colleague, stranger = create_member(stack, "alpha"), create_member(stack, "beta")
    addresses = list_addresses(objects)
    assert sum(shows_objects(colleague, address) for address in addresses) > 15
    assert [address for address in addresses if shows_objects(stranger, address)] == []
    path = f"/api/v1/datasets/{objects.dataset}"
    assert stranger.ask("GET", path).status_code == 404
    read_json(objects.owner.ask("PUT", f"{path}/share", json={"shared_with": ["beta"]}))
    assert read_json(stranger.ask("GET", path))["uid"] == objects.dataset
    assert MARK in stranger.ask("GET", f"{path}/files/{objects.file}/content").text
    assert stranger.ask("DELETE", path).status_code == 403
    read_json(objects.owner.ask("PUT", f"{path}/share", json={"shared_with": []}))
    assert stranger.ask("GET", path).status_code == 404
