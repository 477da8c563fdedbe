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
    create_dataset,
    create_member,
    list_chains,
    read_json,
)
from tests.attacks.credentials import ask_as_admin
from tests.e2e.systems import LiveSystem
from tests.waiting import wait_until

pytestmark = pytest.mark.xdist_group("attacks-groups")


def test_shared_data_set_can_be_read_and_not_changed(
    group_system: LiveSystem, objects: GroupObjects, other_member: Member
) -> None:
    uid = create_dataset(objects.owner, group_system, f"{MARK}-shared", {"kind": "x"})
    path = f"/api/v1/datasets/{uid}"
    assert other_member.ask("GET", path).status_code == 404

    read_json(objects.owner.ask("PUT", f"{path}/share", json={"shared_with": ["beta"]}))

    dataset = read_json(other_member.ask("GET", path))
    assert (dataset["owner"], dataset["group"]) == (objects.owner.name, "alpha")
    file = read_json(other_member.ask("GET", f"{path}/files"))["files"][0]["id"]
    assert MARK in other_member.ask("GET", f"{path}/files/{file}/content").text
    assert uid in other_member.ask("GET", "/api/v1/datasets").text
    for method, rest, body in (
        ("POST", "/close", {"files": 2}),
        ("POST", "/files", {"files": []}),
        ("PUT", "/share", {"shared_with": [], "group": "beta"}),
        ("DELETE", "?force=true", {}),
    ):
        refused = other_member.ask(method, f"{path}{rest}", json=body)
        assert refused.status_code == 403, (rest, refused.text)
        assert "which shares it for reading" in refused.json()["detail"]

    read_json(objects.owner.ask("PUT", f"{path}/share", json={"shared_with": []}))
    assert other_member.ask("GET", path).status_code == 404
    assert read_json(objects.owner.ask("GET", path))["state"] == DatasetState.CLOSED


def test_shared_template_can_be_used_for_own_data_and_not_changed(
    group_system: LiveSystem, objects: GroupObjects, other_member: Member
) -> None:
    path = f"/api/v1/templates/{objects.template}"
    read_json(objects.owner.ask("PUT", f"{path}/share", json={"shared_with": ["beta"]}))
    own = create_dataset(other_member, group_system, "his-own", {"kind": MARK})
    wait_until(
        lambda: own in other_member.ask("GET", "/api/v1/unmatched").text,
        what="the data set of the stranger",
    )
    asked_for = {"dataset_uid": own, "template": objects.template}
    chain = read_json(other_member.ask("POST", "/api/v1/chains", json=asked_for))
    assert (chain["owner"], chain["group"]) == (other_member.name, "beta")
    assert objects.owner.ask("GET", f"/api/v1/chains/{chain['uid']}").status_code == 404
    cwl = read_json(other_member.ask("GET", path))["cwl"]
    for method, address, body in (
        ("POST", "/api/v1/templates", {"name": objects.template, "cwl": f"{cwl}\n"}),
        ("POST", f"{path}/disable", {}),
        ("DELETE", f"{path}?force=true", {}),
        ("PUT", f"{path}/share", {"shared_with": [], "group": "beta"}),
        ("POST", f"{path}/restore", {"version": 1}),
    ):
        assert other_member.ask(method, address, json=body).status_code == 403, address
    read_json(objects.owner.ask("PUT", f"{path}/share", json={"shared_with": []}))
    assert other_member.ask("GET", path).status_code == 404
    assert other_member.ask("POST", "/api/v1/chains", json=asked_for).status_code == 404


def test_error_about_a_used_name_does_not_reveal_the_owner(
    objects: GroupObjects, other_member: Member
) -> None:
    """The same request of the owner returns the existing object."""
    own_request = {"name": f"{MARK}-week", "meta": {"kind": MARK}}
    for body in (own_request, {"name": f"{MARK}-week"}):
        refused = other_member.ask("POST", "/services/dms/api/v1/datasets", json=body)
        assert refused.status_code == 409
        assert objects.dataset not in refused.text
    for body in (
        {"name": objects.template, "cwl": "x"},
        {"name": objects.template, "cwl": read_json(
            objects.owner.ask("GET", f"/api/v1/templates/{objects.template}"))["cwl"]},
    ):  # fmt: skip
        for path in ("/api/v1/templates", "/api/v1/templates/compare"):
            refused = other_member.ask("POST", path, json=body)
            assert refused.status_code == 409, refused.text
            assert "give the template another one" in refused.json()["detail"]


def test_shared_input_is_not_deleted_by_a_chain_of_another_group(
    group_system: LiveSystem, objects: GroupObjects, other_member: Member
) -> None:
    """A chain of the owner with the same retention deletes it."""
    consuming_template = TEMPLATE.replace("input: keep, logs: keep", "input: delete, logs: keep", 1)
    for owner, kind in ((other_member, "hungry-his"), (objects.owner, "hungry-hers")):
        cwl = consuming_template.replace(MARK, kind)
        read_json(owner.ask("POST", "/api/v1/templates", json={"name": kind, "cwl": cwl}))
    uid = create_dataset(
        objects.owner, group_system, f"{MARK}-lent", {"kind": "nobody's"}, shared="beta"
    )
    path = f"/api/v1/datasets/{uid}"
    for owner, template, state in (
        (other_member, "hungry-his", DatasetState.CLOSED),
        (objects.owner, "hungry-hers", DatasetState.DELETED),
    ):
        asked_for = {"dataset_uid": uid, "template": template}
        chain = read_json(owner.ask("POST", "/api/v1/chains", json=asked_for))["uid"]
        wait_until(partial(_is_chain_ended, owner, chain), what="the end of the chain", seconds=60)
        wait_until(
            partial(_is_in_state, objects.owner, path, state),
            what=f"the data set is {state}",
            seconds=60,
        )
    refused = objects.owner.ask("PUT", f"{path}/share", json={"shared_with": ["beta"]})
    assert refused.status_code == 409
    assert "there is nothing to share" in refused.json()["detail"]


def _is_chain_ended(owner: Member, chain: str) -> bool:
    return bool(read_json(owner.ask("GET", f"/api/v1/chains/{chain}"))["ended_at"])


def _is_in_state(owner: Member, path: str, state: DatasetState) -> bool:
    return bool(read_json(owner.ask("GET", path))["state"] == state)


def test_parameter_cannot_delete_a_shared_file(
    group_system: LiveSystem, objects: GroupObjects, other_member: Member
) -> None:
    with_file = TEMPLATE.replace(MARK, "lent").replace(
        'inputs: {texts: "File[]"}', 'inputs: {texts: "File[]", other: "File[]"}', 1
    )
    body = {"name": "lent-file-wf", "cwl": with_file}
    read_json(other_member.ask("POST", "/api/v1/templates", json=body))
    dataset = create_dataset(
        objects.owner, group_system, f"{MARK}-lent-file", {"kind": "x"}, shared="beta"
    )
    own = create_dataset(other_member, group_system, "his-beside-lent", {"kind": "his"})
    file = {"class": "File", "dataset": dataset, "retention": "delete"}
    asked_for = {"dataset_uid": own, "template": "lent-file-wf", "params": {"other": file}}
    refused = other_member.ask("POST", "/api/v1/chains", json=asked_for)
    assert refused.status_code == 422
    assert "which shares it for reading" in refused.text


def test_data_set_that_is_not_shared_any_more_cannot_be_read_by_earlier_chains(
    group_system: LiveSystem, objects: GroupObjects, other_member: Member
) -> None:
    """Neither a rerun nor a waiting chain can read it."""
    cwl = TEMPLATE.replace(MARK, "lent-once")
    read_json(other_member.ask("POST", "/api/v1/templates", json={"name": "lent-once", "cwl": cwl}))
    first = create_dataset(
        objects.owner, group_system, f"{MARK}-once", {"kind": "lent-once"}, shared="beta"
    )
    wait_until(partial(list_chains, other_member, first), what="the chain of the stranger")
    [chain] = list_chains(other_member, first)
    wait_until(
        partial(_is_chain_ended, other_member, chain["uid"]),
        what="the end of the chain",
        seconds=60,
    )
    ask_as_admin(group_system, "PATCH", "/groups/beta", {"chains": 0})
    try:
        second = create_dataset(
            objects.owner, group_system, f"{MARK}-twice", {"kind": "lent-once"}, shared="beta"
        )
        wait_until(
            lambda: second in _list_matched_datasets(group_system),
            what="the data set is matched and waits",
        )
        for uid in (first, second):
            path = f"/api/v1/datasets/{uid}/share"
            read_json(objects.owner.ask("PUT", path, json={"shared_with": []}))
    finally:
        ask_as_admin(group_system, "PATCH", "/groups/beta", {"chains": "none"})

    for body in ({}, {"from_step": read_json(other_member.ask(
        "GET", f"/api/v1/chains/{chain['uid']}"))["steps"][0]["name"]}):  # fmt: skip
        refused = other_member.ask("POST", f"/api/v1/chains/{chain['uid']}/rerun", json=body)
        assert refused.status_code == 404, refused.text
    wait_until(
        lambda: (
            "is no longer shared with the group beta"
            in objects.owner.ask("GET", "/api/v1/unmatched").text
        ),
        what="the data set is unmatched",
        seconds=60,
    )
    assert list_chains(other_member, second) == []


def _list_matched_datasets(system: LiveSystem) -> list[str]:
    """Return the data sets that are matched and wait for their chain."""

    async def read_datasets() -> list[str]:
        connection = await asyncpg.connect(system.database_url("wfms_intake"))
        try:
            rows = await connection.fetch("SELECT dataset_uid FROM handovers WHERE attempts > 0")
        finally:
            await connection.close()
        return [str(row["dataset_uid"]) for row in rows]

    return asyncio.run(read_datasets())


def test_transfer_of_a_data_set_does_not_transfer_its_chains(
    group_system: LiveSystem, objects: GroupObjects, other_member: Member
) -> None:
    """The previous owner keeps the chain."""
    member_of_both = create_member(group_system, "alpha", "beta")
    cwl = TEMPLATE.replace(MARK, "for-all")
    template = {"name": "for-all", "cwl": cwl, "group": "everyone"}
    read_json(member_of_both.ask("POST", "/api/v1/templates", json=template))
    uid = create_dataset(objects.owner, group_system, f"{MARK}-given", {"kind": "for-all"})
    wait_until(lambda: list_chains(objects.owner, uid), what="the chain of the owner")
    [first] = list_chains(objects.owner, uid)
    sharing = {"group": "beta", "shared_with": ["alpha"]}
    read_json(member_of_both.ask("PUT", f"/api/v1/datasets/{uid}/share", json=sharing))

    asked_for = {"dataset_uid": uid, "template": "for-all"}
    other_chain = read_json(other_member.ask("POST", "/api/v1/chains", json=asked_for))
    assert other_chain["uid"] != first["uid"]
    assert other_chain["group"] == "beta"
    assert (
        read_json(other_member.ask("POST", "/api/v1/chains", json=asked_for))["uid"]
        == other_chain["uid"]
    )
    second_chain = read_json(objects.owner.ask("POST", "/api/v1/chains", json=asked_for))
    assert second_chain["uid"] == first["uid"]


def test_chain_cannot_use_objects_of_another_group(
    group_system: LiveSystem, objects: GroupObjects, other_member: Member
) -> None:
    own = create_dataset(other_member, group_system, "his-input", {"kind": "his"})
    with_file = TEMPLATE.replace(MARK, "his").replace(
        'inputs: {texts: "File[]"}', 'inputs: {texts: "File[]", other: File}', 1
    )
    for name, cwl in (("his-wf", TEMPLATE.replace(MARK, "his")), ("his-file-wf", with_file)):
        read_json(other_member.ask("POST", "/api/v1/templates", json={"name": name, "cwl": cwl}))
    file = {"class": "File", "dataset": objects.dataset}
    for body, status in (
        ({"dataset_uid": objects.dataset, "template": "his-wf"}, 404),
        ({"dataset_uid": own, "template": objects.template}, 404),
        ({"dataset_uid": own, "template": "x", "run_template": objects.run_template}, 404),
        ({"dataset_uid": own, "template": "his-file-wf", "params": {"other": file}}, 422),
    ):
        refused = other_member.ask("POST", "/api/v1/chains", json=body)
        assert refused.status_code == status, refused.text
    assert f"there is no data set {objects.dataset}" in refused.text


def test_match_rules_do_not_take_data_of_another_group(
    group_system: LiveSystem, objects: GroupObjects, other_member: Member
) -> None:
    """Both groups have templates and data of the same kind."""
    first = TEMPLATE.replace("sluice:match", "sluice:priority: 9\nsluice:match", 1)
    read_json(
        other_member.ask("POST", "/api/v1/templates", json={"name": "his-greedy", "cwl": first})
    )
    other_dataset = create_dataset(other_member, group_system, "his-of-her-kind", {"kind": MARK})
    new = create_dataset(objects.owner, group_system, f"{MARK}-next", {"kind": MARK})
    for owner, dataset, template in (
        (objects.owner, new, objects.template),
        (other_member, other_dataset, "his-greedy"),
    ):
        wait_until(partial(list_chains, owner, dataset), what="a chain")
        assert [chain["template"] for chain in list_chains(owner, dataset)] == [template]
    read_json(other_member.ask("POST", "/api/v1/templates/his-greedy/disable"))
    unmatched_dataset = create_dataset(other_member, group_system, "his-odd", {"kind": MARK})
    wait_until(
        lambda: unmatched_dataset in other_member.ask("GET", "/api/v1/unmatched").text,
        what="the unmatched data set",
    )
    for address in ("/api/v1/unmatched", "/datasets/unmatched", f"/datasets/{unmatched_dataset}"):
        assert objects.template not in other_member.ask("GET", address).text


def test_sharing_with_an_unknown_group_is_refused(
    group_system: LiveSystem, objects: GroupObjects, other_member: Member
) -> None:
    """A typing error does not end the existing sharing."""
    uid = create_dataset(objects.owner, group_system, f"{MARK}-slip", {"kind": "x"}, shared="beta")
    for path in (f"/api/v1/datasets/{uid}", f"/api/v1/templates/{objects.template}"):
        refused = objects.owner.ask("PUT", f"{path}/share", json={"shared_with": ["beat"]})
        assert refused.status_code == 422, refused.text
        assert "no account is in a group 'beat'" in refused.json()["detail"]
    assert read_json(other_member.ask("GET", f"/api/v1/datasets/{uid}"))["shared_with"] == ["beta"]


@pytest.mark.parametrize("key", ["sluice.asset", "output_name"])
@pytest.mark.parametrize("path", ["/api/v1/datasets", "/services/dms/api/v1/datasets"])
def test_metadata_that_the_system_sets_is_refused(
    objects: GroupObjects, path: str, key: str
) -> None:
    """It marks assets, which are deleted with their data set, and outputs of chains."""
    body = {"name": f"said-{key}", "meta": {key: "model", "chain": "c"}}
    refused = objects.owner.ask("POST", path, json=body)
    assert refused.status_code == 422, refused.text
    assert f"the metadata has '{key}', which the system sets itself" in refused.json()["detail"]


def test_objects_cannot_be_created_for_another_person_or_group(
    objects: GroupObjects, other_member: Member
) -> None:
    for service in ("", "/services/dms"):
        for claim in ({"owner": objects.owner.name}, {"group": "alpha"}):
            body = {"name": f"his-gift{service[-3:]}", **claim}
            refused = other_member.ask("POST", f"{service}/api/v1/datasets", json=body)
            assert refused.status_code == 403, refused.text
    cwl = TEMPLATE.replace(MARK, "gift")
    body = {"name": "his-gift", "cwl": cwl, "group": "alpha"}
    assert other_member.ask("POST", "/api/v1/templates", json=body).status_code == 403
    assert other_member.ask("POST", "/api/v1/run-templates", json=body).status_code == 403


def test_submitter_can_change_and_delete_only_own_objects(group_system: LiveSystem) -> None:
    """This applies within a group, too, and to pages and the REST API."""
    anna, bert = (create_member(group_system, "delta", role=Role.SUBMITTER) for _ in range(2))
    cwl = TEMPLATE.replace(MARK, "ours")
    read_json(anna.ask("POST", "/api/v1/templates", json={"name": "annas", "cwl": cwl}))
    uid = create_dataset(anna, group_system, "annas-data", {"kind": "ours"})
    wait_until(lambda: list_chains(anna, uid), what="a chain")
    [new_chain] = list_chains(anna, uid)
    wait_until(
        lambda: read_json(anna.ask("GET", f"/api/v1/chains/{new_chain['uid']}"))["ended_at"],
        what="its end",
    )
    chain = read_json(anna.ask("POST", f"/api/v1/chains/{new_chain['uid']}/rerun", json={}))["uid"]
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


def test_submitter_can_neither_end_nor_extend_a_run_of_another_person(
    group_system: LiveSystem,
) -> None:
    anna, bert = (
        create_member(group_system, group, role=Role.SUBMITTER) for group in ("delta", "beta")
    )
    read_json(anna.ask("POST", "/api/v1/periods", json={"name": "annas"}))
    read_json(anna.ask("POST", "/api/v1/runs", json={"number": 4711, "period": "annas"}))
    run, frames = "/api/v1/runs/4711", {"frames": [{"number": 1}]}
    for refused in (
        bert.ask("PATCH", run, json={"ended_at": None}),
        bert.ask("POST", f"{run}/frames", json=frames),
    ):
        assert refused.status_code == 403, refused.text
        assert f"by {anna.name} or the role shift only" in refused.text
    assert read_json(bert.ask("GET", f"{run}/frames")) == []
    assert read_json(anna.ask("POST", f"{run}/frames", json=frames))["new"] == 1


def test_person_who_leaves_a_group_does_not_see_its_objects_any_more(
    group_system: LiveSystem, objects: GroupObjects
) -> None:
    leaving_member = create_member(group_system, "alpha", "beta")
    addresses = [
        f"/api/v1/datasets/{objects.dataset}",
        f"/services/wms/api/v1/tasks/{objects.task}",
    ]
    assert [leaving_member.ask("GET", each).status_code for each in addresses] == [200, 200]
    ask_as_admin(group_system, "PATCH", f"/people/{leaving_member.name}", {"groups": ["beta"]})
    assert [leaving_member.ask("GET", each).status_code for each in addresses] == [404, 404]
