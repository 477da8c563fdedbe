"""Tests of what groups share with each other, what they do not share, and what belongs to a
person."""

import asyncio
from functools import partial
from typing import Any

import asyncpg
import pytest

from sluice.contracts.access.access import Role
from sluice.contracts.common.states import DatasetState
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
from tests.attacks.credentials import ask_as_admin
from tests.e2e.systems import LiveSystem
from tests.waiting import wait_until

pytestmark = pytest.mark.xdist_group("attacks-groups")


def test_shared_data_set_can_be_read_and_not_changed(
    grouped: LiveSystem, hers: GroupObjects, stranger: Member
) -> None:
    uid = bring_in(hers.owner, grouped, f"{MARK}-shared", {"kind": "x"})
    path = f"/api/v1/datasets/{uid}"
    assert stranger.ask("GET", path).status_code == 404

    got(hers.owner.ask("PUT", f"{path}/share", json={"shared_with": ["beta"]}))

    dataset = got(stranger.ask("GET", path))
    assert (dataset["owner"], dataset["group"]) == (hers.owner.name, "alpha")
    file = got(stranger.ask("GET", f"{path}/files"))["files"][0]["id"]
    assert MARK in stranger.ask("GET", f"{path}/files/{file}/content").text
    assert uid in stranger.ask("GET", "/api/v1/datasets").text
    for method, rest, body in (
        ("POST", "/close", {"files": 2}),
        ("POST", "/files", {"files": []}),
        ("PUT", "/share", {"shared_with": [], "group": "beta"}),
        ("DELETE", "?force=true", {}),
    ):
        refused = stranger.ask(method, f"{path}{rest}", json=body)
        assert refused.status_code == 403, (rest, refused.text)
        assert "which shares it for reading" in refused.json()["detail"]

    got(hers.owner.ask("PUT", f"{path}/share", json={"shared_with": []}))
    assert stranger.ask("GET", path).status_code == 404
    assert got(hers.owner.ask("GET", path))["state"] == DatasetState.CLOSED


def test_shared_template_can_be_used_for_own_data_and_not_changed(
    grouped: LiveSystem, hers: GroupObjects, stranger: Member
) -> None:
    path = f"/api/v1/templates/{hers.template}"
    got(hers.owner.ask("PUT", f"{path}/share", json={"shared_with": ["beta"]}))
    own = bring_in(stranger, grouped, "his-own", {"kind": MARK})
    wait_until(
        lambda: own in stranger.ask("GET", "/api/v1/unmatched").text,
        what="the data set of the stranger",
    )

    asked_for = {"dataset_uid": own, "template": hers.template}
    chain = got(stranger.ask("POST", "/api/v1/chains", json=asked_for))

    assert (chain["owner"], chain["group"]) == (stranger.name, "beta")
    assert hers.owner.ask("GET", f"/api/v1/chains/{chain['uid']}").status_code == 404
    cwl = got(stranger.ask("GET", path))["cwl"]
    for method, address, body in (
        ("POST", "/api/v1/templates", {"name": hers.template, "cwl": f"{cwl}\n"}),
        ("POST", f"{path}/disable", {}),
        ("DELETE", f"{path}?force=true", {}),
        ("PUT", f"{path}/share", {"shared_with": [], "group": "beta"}),
        ("POST", f"{path}/restore", {"version": 1}),
    ):
        assert stranger.ask(method, address, json=body).status_code == 403, address
    got(hers.owner.ask("PUT", f"{path}/share", json={"shared_with": []}))
    assert stranger.ask("GET", path).status_code == 404
    assert stranger.ask("POST", "/api/v1/chains", json=asked_for).status_code == 404


def test_error_about_a_used_name_does_not_reveal_the_owner(
    hers: GroupObjects, stranger: Member
) -> None:
    """The same request of the owner returns the existing object."""
    mine = {"name": f"{MARK}-week", "meta": {"kind": MARK}}
    for body in (mine, {"name": f"{MARK}-week"}):
        refused = stranger.ask("POST", "/services/dms/api/v1/datasets", json=body)
        assert refused.status_code == 409
        assert hers.dataset not in refused.text
    for body in (
        {"name": hers.template, "cwl": "x"},
        {"name": hers.template, "cwl": got(
            hers.owner.ask("GET", f"/api/v1/templates/{hers.template}"))["cwl"]},
    ):  # fmt: skip
        for path in ("/api/v1/templates", "/api/v1/templates/compare"):
            refused = stranger.ask("POST", path, json=body)
            assert refused.status_code == 409, refused.text
            assert "give the template another one" in refused.json()["detail"]


def test_shared_input_is_not_deleted_by_a_chain_of_another_group(
    grouped: LiveSystem, hers: GroupObjects, stranger: Member
) -> None:
    """A chain of the owner with the same retention deletes it."""
    hungry = TEMPLATE.replace("input: keep, logs: keep", "input: delete, logs: keep", 1)
    for owner, kind in ((stranger, "hungry-his"), (hers.owner, "hungry-hers")):
        cwl = hungry.replace(MARK, kind)
        got(owner.ask("POST", "/api/v1/templates", json={"name": kind, "cwl": cwl}))
    uid = bring_in(hers.owner, grouped, f"{MARK}-lent", {"kind": "nobody's"}, shared="beta")
    path = f"/api/v1/datasets/{uid}"
    for owner, template, state in (
        (stranger, "hungry-his", DatasetState.CLOSED),
        (hers.owner, "hungry-hers", DatasetState.DELETED),
    ):
        asked_for = {"dataset_uid": uid, "template": template}
        chain = got(owner.ask("POST", "/api/v1/chains", json=asked_for))["uid"]
        wait_until(partial(_ended, owner, chain), what="the end of the chain", seconds=60)
        wait_until(
            partial(_is_in, hers.owner, path, state), what=f"the data set is {state}", seconds=60
        )
    refused = hers.owner.ask("PUT", f"{path}/share", json={"shared_with": ["beta"]})
    assert refused.status_code == 409
    assert "there is nothing to share" in refused.json()["detail"]


def _ended(owner: Member, chain: str) -> bool:
    return bool(got(owner.ask("GET", f"/api/v1/chains/{chain}"))["ended_at"])


def _is_in(owner: Member, path: str, state: DatasetState) -> bool:
    return bool(got(owner.ask("GET", path))["state"] == state)


def test_parameter_cannot_delete_a_shared_file(
    grouped: LiveSystem, hers: GroupObjects, stranger: Member
) -> None:
    with_file = TEMPLATE.replace(MARK, "lent").replace(
        'inputs: {texts: "File[]"}', 'inputs: {texts: "File[]", other: "File[]"}', 1
    )
    body = {"name": "lent-file-wf", "cwl": with_file}
    got(stranger.ask("POST", "/api/v1/templates", json=body))
    dataset = bring_in(hers.owner, grouped, f"{MARK}-lent-file", {"kind": "x"}, shared="beta")
    own = bring_in(stranger, grouped, "his-beside-lent", {"kind": "his"})
    file = {"class": "File", "dataset": dataset, "retention": "delete"}
    asked_for = {"dataset_uid": own, "template": "lent-file-wf", "params": {"other": file}}
    refused = stranger.ask("POST", "/api/v1/chains", json=asked_for)
    assert refused.status_code == 422
    assert "which shares it for reading" in refused.text


def test_data_set_that_is_not_shared_any_more_cannot_be_read_by_earlier_chains(
    grouped: LiveSystem, hers: GroupObjects, stranger: Member
) -> None:
    """Neither a rerun nor a waiting chain can read it."""
    cwl = TEMPLATE.replace(MARK, "lent-once")
    got(stranger.ask("POST", "/api/v1/templates", json={"name": "lent-once", "cwl": cwl}))
    first = bring_in(hers.owner, grouped, f"{MARK}-once", {"kind": "lent-once"}, shared="beta")
    wait_until(partial(chains_of, stranger, first), what="the chain of the stranger")
    [chain] = chains_of(stranger, first)
    wait_until(partial(_ended, stranger, chain["uid"]), what="the end of the chain", seconds=60)
    ask_as_admin(grouped, "PATCH", "/groups/beta", {"chains": 0})
    try:
        second = bring_in(
            hers.owner, grouped, f"{MARK}-twice", {"kind": "lent-once"}, shared="beta"
        )
        wait_until(
            lambda: second in _handed_over(grouped), what="the data set is matched and waits"
        )
        for uid in (first, second):
            got(hers.owner.ask("PUT", f"/api/v1/datasets/{uid}/share", json={"shared_with": []}))
    finally:
        ask_as_admin(grouped, "PATCH", "/groups/beta", {"chains": "none"})

    for body in ({}, {"from_step": got(stranger.ask(
        "GET", f"/api/v1/chains/{chain['uid']}"))["steps"][0]["name"]}):  # fmt: skip
        refused = stranger.ask("POST", f"/api/v1/chains/{chain['uid']}/rerun", json=body)
        assert refused.status_code == 404, refused.text
    wait_until(
        lambda: (
            "is no longer shared with the group beta"
            in hers.owner.ask("GET", "/api/v1/unmatched").text
        ),
        what="the data set is unmatched",
        seconds=60,
    )
    assert chains_of(stranger, second) == []


def _handed_over(system: LiveSystem) -> list[str]:
    """Return the data sets that are matched and wait for their chain."""

    async def look() -> list[str]:
        connection = await asyncpg.connect(system.database_url("wfms_intake"))
        try:
            rows = await connection.fetch("SELECT dataset_uid FROM handovers WHERE attempts > 0")
        finally:
            await connection.close()
        return [str(row["dataset_uid"]) for row in rows]

    return asyncio.run(look())


def test_transfer_of_a_data_set_does_not_transfer_its_chains(
    grouped: LiveSystem, hers: GroupObjects, stranger: Member
) -> None:
    """The previous owner keeps the chain."""
    both = member(grouped, "alpha", "beta")
    cwl = TEMPLATE.replace(MARK, "for-all")
    template = {"name": "for-all", "cwl": cwl, "group": "everyone"}
    got(both.ask("POST", "/api/v1/templates", json=template))
    uid = bring_in(hers.owner, grouped, f"{MARK}-given", {"kind": "for-all"})
    wait_until(lambda: chains_of(hers.owner, uid), what="the chain of the owner")
    [first] = chains_of(hers.owner, uid)
    sharing = {"group": "beta", "shared_with": ["alpha"]}
    got(both.ask("PUT", f"/api/v1/datasets/{uid}/share", json=sharing))

    asked_for = {"dataset_uid": uid, "template": "for-all"}
    his = got(stranger.ask("POST", "/api/v1/chains", json=asked_for))
    assert his["uid"] != first["uid"]
    assert his["group"] == "beta"
    assert got(stranger.ask("POST", "/api/v1/chains", json=asked_for))["uid"] == his["uid"]
    again = got(hers.owner.ask("POST", "/api/v1/chains", json=asked_for))
    assert again["uid"] == first["uid"]


def test_chain_cannot_use_objects_of_another_group(
    grouped: LiveSystem, hers: GroupObjects, stranger: Member
) -> None:
    own = bring_in(stranger, grouped, "his-input", {"kind": "his"})
    with_file = TEMPLATE.replace(MARK, "his").replace(
        'inputs: {texts: "File[]"}', 'inputs: {texts: "File[]", other: File}', 1
    )
    for name, cwl in (("his-wf", TEMPLATE.replace(MARK, "his")), ("his-file-wf", with_file)):
        got(stranger.ask("POST", "/api/v1/templates", json={"name": name, "cwl": cwl}))
    file = {"class": "File", "dataset": hers.dataset}
    for body, status in (
        ({"dataset_uid": hers.dataset, "template": "his-wf"}, 404),
        ({"dataset_uid": own, "template": hers.template}, 404),
        ({"dataset_uid": own, "template": "x", "run_template": hers.run_template}, 404),
        ({"dataset_uid": own, "template": "his-file-wf", "params": {"other": file}}, 422),
    ):
        refused = stranger.ask("POST", "/api/v1/chains", json=body)
        assert refused.status_code == status, refused.text
    assert f"there is no data set {hers.dataset}" in refused.text


def test_match_rules_do_not_take_data_of_another_group(
    grouped: LiveSystem, hers: GroupObjects, stranger: Member
) -> None:
    """Both groups have templates and data of the same kind."""
    first = TEMPLATE.replace("sluice:match", "sluice:priority: 9\nsluice:match", 1)
    got(stranger.ask("POST", "/api/v1/templates", json={"name": "his-greedy", "cwl": first}))
    his = bring_in(stranger, grouped, "his-of-her-kind", {"kind": MARK})
    new = bring_in(hers.owner, grouped, f"{MARK}-next", {"kind": MARK})
    for owner, dataset, template in (
        (hers.owner, new, hers.template),
        (stranger, his, "his-greedy"),
    ):
        wait_until(partial(chains_of, owner, dataset), what="a chain")
        assert [chain["template"] for chain in chains_of(owner, dataset)] == [template]
    got(stranger.ask("POST", "/api/v1/templates/his-greedy/disable"))
    odd = bring_in(stranger, grouped, "his-odd", {"kind": MARK})
    wait_until(
        lambda: odd in stranger.ask("GET", "/api/v1/unmatched").text, what="the unmatched data set"
    )
    for address in ("/api/v1/unmatched", "/datasets/unmatched", f"/datasets/{odd}"):
        assert hers.template not in stranger.ask("GET", address).text


def test_sharing_with_an_unknown_group_is_refused(
    grouped: LiveSystem, hers: GroupObjects, stranger: Member
) -> None:
    """A typing error does not end the existing sharing."""
    uid = bring_in(hers.owner, grouped, f"{MARK}-slip", {"kind": "x"}, shared="beta")
    for path in (f"/api/v1/datasets/{uid}", f"/api/v1/templates/{hers.template}"):
        refused = hers.owner.ask("PUT", f"{path}/share", json={"shared_with": ["beat"]})
        assert refused.status_code == 422, refused.text
        assert "no account is in a group 'beat'" in refused.json()["detail"]
    assert got(stranger.ask("GET", f"/api/v1/datasets/{uid}"))["shared_with"] == ["beta"]


@pytest.mark.parametrize("key", ["sluice.asset", "output_name"])
@pytest.mark.parametrize("path", ["/api/v1/datasets", "/services/dms/api/v1/datasets"])
def test_metadata_that_the_system_sets_is_refused(hers: GroupObjects, path: str, key: str) -> None:
    """It marks assets, which are deleted with their data set, and outputs of chains."""
    body = {"name": f"said-{key}", "meta": {key: "model", "chain": "c"}}
    refused = hers.owner.ask("POST", path, json=body)
    assert refused.status_code == 422, refused.text
    assert f"the metadata has '{key}', which the system sets itself" in refused.json()["detail"]


def test_objects_cannot_be_created_for_another_person_or_group(
    hers: GroupObjects, stranger: Member
) -> None:
    for service in ("", "/services/dms"):
        for claim in ({"owner": hers.owner.name}, {"group": "alpha"}):
            body = {"name": f"his-gift{service[-3:]}", **claim}
            refused = stranger.ask("POST", f"{service}/api/v1/datasets", json=body)
            assert refused.status_code == 403, refused.text
    cwl = TEMPLATE.replace(MARK, "gift")
    body = {"name": "his-gift", "cwl": cwl, "group": "alpha"}
    assert stranger.ask("POST", "/api/v1/templates", json=body).status_code == 403
    assert stranger.ask("POST", "/api/v1/run-templates", json=body).status_code == 403


def test_submitter_can_change_and_delete_only_own_objects(grouped: LiveSystem) -> None:
    """This applies within a group, too, and to pages and the REST API."""
    anna, bert = (member(grouped, "delta", role=Role.SUBMITTER) for _ in range(2))
    cwl = TEMPLATE.replace(MARK, "ours")
    got(anna.ask("POST", "/api/v1/templates", json={"name": "annas", "cwl": cwl}))
    uid = bring_in(anna, grouped, "annas-data", {"kind": "ours"})
    wait_until(lambda: chains_of(anna, uid), what="a chain")
    [new_chain] = chains_of(anna, uid)
    wait_until(
        lambda: got(anna.ask("GET", f"/api/v1/chains/{new_chain['uid']}"))["ended_at"],
        what="its end",
    )
    chain = got(anna.ask("POST", f"/api/v1/chains/{new_chain['uid']}/rerun", json={}))["uid"]
    wishes: list[tuple[str, str, dict[str, Any]]] = [
        ("POST", "/api/v1/templates/annas/disable", {}),
        ("POST", "/templates/annas/disable", {}),
        ("PUT", "/api/v1/templates/annas/share", {"shared_with": ["beta"]}),
        ("DELETE", "/api/v1/templates/annas?force=true", {}),
        ("POST", f"/api/v1/chains/{chain}/cancel", {}),
        ("POST", f"/api/v1/chains/{chain}/discard", {}),
        ("PUT", f"/api/v1/datasets/{uid}/share", {"shared_with": ["beta"]}),
        ("DELETE", f"/api/v1/datasets/{uid}?force=true", {}),
    ]
    for method, path, body in wishes:
        refused = bert.ask(method, path, json=body)
        assert refused.status_code == 403, (path, refused.text)
        assert "it requires the role shift, or that you own it" in refused.text
    rank = f"/api/v1/chains/{chain}/rank"
    for nobody in (anna, bert):
        assert nobody.ask("POST", rank, json={"rank": 5}).status_code == 403
    for method, path, body in wishes:
        if path.startswith("/api/"):
            answer = anna.ask(method, path, json=body)
            # A chain that has just ended cannot be canceled.
            assert answer.is_success or answer.status_code == 409, (path, answer.text)


def test_submitter_can_neither_end_nor_extend_a_run_of_another_person(grouped: LiveSystem) -> None:
    anna, bert = (member(grouped, group, role=Role.SUBMITTER) for group in ("delta", "beta"))
    got(anna.ask("POST", "/api/v1/periods", json={"name": "annas"}))
    got(anna.ask("POST", "/api/v1/runs", json={"number": 4711, "period": "annas"}))
    run, frames = "/api/v1/runs/4711", {"frames": [{"number": 1}]}
    for refused in (
        bert.ask("PATCH", run, json={"ended_at": None}),
        bert.ask("POST", f"{run}/frames", json=frames),
    ):
        assert refused.status_code == 403, refused.text
        assert f"by {anna.name} or the role shift only" in refused.text
    assert got(bert.ask("GET", f"{run}/frames")) == []
    assert got(anna.ask("POST", f"{run}/frames", json=frames))["new"] == 1


def test_person_who_leaves_a_group_does_not_see_its_objects_any_more(
    grouped: LiveSystem, hers: GroupObjects
) -> None:
    leaver = member(grouped, "alpha", "beta")
    addresses = [f"/api/v1/datasets/{hers.dataset}", f"/services/wms/api/v1/tasks/{hers.task}"]
    assert [leaver.ask("GET", each).status_code for each in addresses] == [200, 200]
    ask_as_admin(grouped, "PATCH", f"/people/{leaver.name}", {"groups": ["beta"]})
    assert [leaver.ask("GET", each).status_code for each in addresses] == [404, 404]
