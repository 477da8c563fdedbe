"""Tests that match rules do not take data of other groups and that people can cancel chains of
their own data."""

import pytest

from sluice.contracts.access.access import Role
from tests.attacks.access.two_groups import (
    MARK,
    TEMPLATE,
    GroupObjects,
    Member,
    create_dataset,
    create_member,
    list_chains,
    read_json,
)
from tests.e2e.systems import LiveSystem
from tests.waiting import wait_until

pytestmark = pytest.mark.xdist_group("attacks-groups")

GREEDY = TEMPLATE.replace("sluice:match", "sluice:priority: 99\nsluice:match", 1)
HARMLESS = TEMPLATE.replace(f"sluice:match: {{kind: {MARK}}}\n", "")


@pytest.mark.parametrize("groups", [("beta",), ()], ids=["in another group", "in none"])
def test_template_of_a_submitter_cannot_match_data_of_all_groups(
    group_system: LiveSystem, objects: GroupObjects, groups: tuple[str, ...]
) -> None:
    submitter = create_member(group_system, *groups, role=Role.SUBMITTER)

    def publish_template(name: str, cwl: str, **more: str) -> tuple[int, str]:
        body = {"name": f"{submitter.name}-{name}", "cwl": cwl, "group": "everyone", **more}
        answer = submitter.ask("POST", "/api/v1/templates", json=body)
        return answer.status_code, answer.text

    status, detail = publish_template("greedy", GREEDY)
    assert status == 403, detail
    assert "of all groups automatically (sluice:match), which requires the role shift" in detail
    status, detail = publish_template("plain", HARMLESS)
    assert status == 201, detail
    # A later version and a transfer to another group are refused, too.
    assert publish_template("plain", GREEDY)[0] == 403
    if groups:
        own = {"name": f"{submitter.name}-own", "cwl": GREEDY}
        read_json(submitter.ask("POST", "/api/v1/templates", json=own))
        path = f"/api/v1/templates/{submitter.name}-own/share"
        assert (
            submitter.ask("PUT", path, json={"shared_with": [], "group": "everyone"}).status_code
            == 403
        )
        assert submitter.ask("DELETE", f"/api/v1/templates/{submitter.name}-own").is_success
    # The role shift may publish for all groups.
    shift = create_member(group_system, "beta")
    for_all = {"name": f"{shift.name}-all", "cwl": HARMLESS, "group": "everyone"}
    read_json(shift.ask("POST", "/api/v1/templates", json=for_all))
    uid = create_dataset(objects.owner, group_system, f"{MARK}-{submitter.name}", {"kind": MARK})
    wait_until(lambda: list_chains(objects.owner, uid), what="the chain of the owner")
    assert [each["template"] for each in list_chains(objects.owner, uid)] == [objects.template]


def test_person_can_cancel_chains_that_start_on_their_data(
    group_system: LiveSystem, objects: GroupObjects, other_member: Member
) -> None:
    person, colleague = (
        create_member(group_system, "alpha", role=Role.SUBMITTER) for _ in range(2)
    )
    uid = create_dataset(person, group_system, f"{MARK}-{person.name}", {"kind": MARK})
    wait_until(lambda: list_chains(person, uid), what="the chain of the submitter")
    [chain] = list_chains(person, uid)
    path = f"/api/v1/chains/{chain['uid']}"
    assert read_json(person.ask("GET", path))["owner"] == person.name
    response = person.ask("POST", f"{path}/cancel", json={"reason": "it was the wrong folder"})
    # On a busy machine the chain may just have finished.
    assert response.is_success or "can no longer be canceled: it has finished" in response.text
    assert colleague.ask("POST", f"{path}/cancel", json={"reason": "x"}).status_code == 403
    assert other_member.ask("POST", f"{path}/cancel", json={"reason": "x"}).status_code == 404
    outputs = read_json(person.ask("GET", path))["datasets"]
    assert {read_json(person.ask("GET", f"/api/v1/datasets/{each['uid']}")).get("owner")
            for each in outputs} == {person.name}  # fmt: skip
