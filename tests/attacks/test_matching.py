"""Nobody's rule takes what is another group's, and whoever brought something in takes it back."""

import pytest

from sluice.contracts.access import Role
from tests.attacks.two_groups import (
    MARK,
    TEMPLATE,
    Belongings,
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
def test_no_submitter_s_template_takes_data_from_all_groups(
    grouped: LiveSystem, hers: Belongings, groups: tuple[str, ...]
) -> None:
    he = member(grouped, *groups, role=Role.SUBMITTER)

    def publish(name: str, cwl: str, **more: str) -> tuple[int, str]:
        body = {"name": f"{he.name}-{name}", "cwl": cwl, "group": "everyone", **more}
        answer = he.ask("POST", "/api/v1/templates", json=body)
        return answer.status_code, answer.text

    status, told = publish("greedy", GREEDY)
    assert status == 403, told
    assert "those of all groups: that needs the role shift" in told
    status, told = publish("plain", HARMLESS)
    assert status == 201, told
    # Nor by its next version, nor by giving it away.
    assert publish("plain", GREEDY)[0] == 403
    if groups:
        own = {"name": f"{he.name}-own", "cwl": GREEDY}
        got(he.ask("POST", "/api/v1/templates", json=own))
        path = f"/api/v1/templates/{he.name}-own/share"
        assert he.ask("PUT", path, json={"shared_with": [], "group": "everyone"}).status_code == 403
        assert he.ask("DELETE", f"/api/v1/templates/{he.name}-own").is_success
    # The shift publishes for all.
    shift = member(grouped, "beta")
    for_all = {"name": f"{shift.name}-all", "cwl": HARMLESS, "group": "everyone"}
    got(shift.ask("POST", "/api/v1/templates", json=for_all))
    uid = bring_in(hers.owner, grouped, f"{MARK}-{he.name}", {"kind": MARK})
    wait_until(lambda: chains_of(hers.owner, uid), what="her chain")
    assert [each["template"] for each in chains_of(hers.owner, uid)] == [hers.template]


def test_whoever_brought_data_in_stops_what_begins_with_it_by_itself(
    grouped: LiveSystem, hers: Belongings, stranger: Member
) -> None:
    she, colleague = (member(grouped, "alpha", role=Role.SUBMITTER) for _ in range(2))
    uid = bring_in(she, grouped, f"{MARK}-{she.name}", {"kind": MARK})
    wait_until(lambda: chains_of(she, uid), what="her chain")
    [chain] = chains_of(she, uid)
    path = f"/api/v1/chains/{chain['uid']}"
    assert got(she.ask("GET", path))["owner"] == she.name
    said = she.ask("POST", f"{path}/cancel", json={"reason": "it was the wrong folder"})
    # On a busy machine it may just have finished.
    assert said.is_success or "cannot be canceled any more: it has finished" in said.text
    assert colleague.ask("POST", f"{path}/cancel", json={"reason": "x"}).status_code == 403
    assert stranger.ask("POST", f"{path}/cancel", json={"reason": "x"}).status_code == 404
    outputs = got(she.ask("GET", path))["datasets"]
    assert {got(she.ask("GET", f"/api/v1/datasets/{each['uid']}")).get("owner")
            for each in outputs} == {she.name}  # fmt: skip
