"""Tests that match rules do not take data of other groups and that people can cancel chains of
their own data."""

import pytest

from sluice.contracts.access.access import Role
from tests.attacks.access.two_groups import (
    MARK,
    TEMPLATE,
    GroupObjects,
    Member,
    bring_in,
    chains_of,
    got,
    member,
)
from tests.e2e.systems import LiveSystem
from tests.waiting import wait_until

pytestmark = pytest.mark.xdist_group("attacks-groups")

GREEDY = TEMPLATE.replace("sluice:match", "sluice:priority: 99\nsluice:match", 1)
HARMLESS = TEMPLATE.replace(f"sluice:match: {{kind: {MARK}}}\n", "")


@pytest.mark.parametrize("groups", [("beta",), ()], ids=["in another group", "in none"])
def test_template_of_a_submitter_cannot_match_data_of_all_groups(
    grouped: LiveSystem, hers: GroupObjects, groups: tuple[str, ...]
) -> None:
    he = member(grouped, *groups, role=Role.SUBMITTER)

    def publish(name: str, cwl: str, **more: str) -> tuple[int, str]:
        body = {"name": f"{he.name}-{name}", "cwl": cwl, "group": "everyone", **more}
        answer = he.ask("POST", "/api/v1/templates", json=body)
        return answer.status_code, answer.text

    status, detail = publish("greedy", GREEDY)
    assert status == 403, detail
    assert "of all groups automatically (sluice:match), which requires the role shift" in detail
    status, detail = publish("plain", HARMLESS)
    assert status == 201, detail
    # A later version and a transfer to another group are refused, too.
    assert publish("plain", GREEDY)[0] == 403
    if groups:
        own = {"name": f"{he.name}-own", "cwl": GREEDY}
        got(he.ask("POST", "/api/v1/templates", json=own))
        path = f"/api/v1/templates/{he.name}-own/share"
        assert he.ask("PUT", path, json={"shared_with": [], "group": "everyone"}).status_code == 403
        assert he.ask("DELETE", f"/api/v1/templates/{he.name}-own").is_success
    # The role shift may publish for all groups.
    shift = member(grouped, "beta")
    for_all = {"name": f"{shift.name}-all", "cwl": HARMLESS, "group": "everyone"}
    got(shift.ask("POST", "/api/v1/templates", json=for_all))
    uid = bring_in(hers.owner, grouped, f"{MARK}-{he.name}", {"kind": MARK})
    wait_until(lambda: chains_of(hers.owner, uid), what="the chain of the owner")
    assert [each["template"] for each in chains_of(hers.owner, uid)] == [hers.template]


def test_person_can_cancel_chains_that_start_on_their_data(
    grouped: LiveSystem, hers: GroupObjects, stranger: Member
) -> None:
    she, colleague = (member(grouped, "alpha", role=Role.SUBMITTER) for _ in range(2))
    uid = bring_in(she, grouped, f"{MARK}-{she.name}", {"kind": MARK})
    wait_until(lambda: chains_of(she, uid), what="the chain of the submitter")
    [chain] = chains_of(she, uid)
    path = f"/api/v1/chains/{chain['uid']}"
    assert got(she.ask("GET", path))["owner"] == she.name
    response = she.ask("POST", f"{path}/cancel", json={"reason": "it was the wrong folder"})
    # On a busy machine the chain may just have finished.
    assert response.is_success or "can no longer be canceled: it has finished" in response.text
    assert colleague.ask("POST", f"{path}/cancel", json={"reason": "x"}).status_code == 403
    assert stranger.ask("POST", f"{path}/cancel", json={"reason": "x"}).status_code == 404
    outputs = got(she.ask("GET", path))["datasets"]
    assert {got(she.ask("GET", f"/api/v1/datasets/{each['uid']}")).get("owner")
            for each in outputs} == {she.name}  # fmt: skip
