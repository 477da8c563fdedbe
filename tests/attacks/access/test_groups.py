"""Tests that groups neither see nor change objects of other groups on any route, unless the objects
are shared."""

import json
import re
from functools import cache
from typing import Any

import httpx
import pytest

from sluice.contracts.access.access import ON_BEHALF_HEADER, Role
from sluice.contracts.common.states import BrowserState, DatasetState
from tests.attacks.access.two_groups import (
    MARK,
    GroupObjects,
    Member,
    create_member,
    get_service_path,
    list_chains,
    read_json,
)
from tests.attacks.credentials import make_bearer_header
from tests.e2e.systems import LiveSystem
from tests.unit.access.table import Row, read_rows

pytestmark = pytest.mark.xdist_group("attacks-groups")

#: The rows that the role of the stranger allows.
ROWS = [row for row in read_rows() if row.lets("shift")]
READS = [row for row in ROWS if row.method == "GET"]
_PART = re.compile(r"\{(\w+)\}")

#: Routes that show objects of a group to its members. If their answers had no mark, the test below
#: would find no leaks.
ROUTES_WITH_NAMES = {
    "/", "/templates", "/datasets", "/chains", "/tasks", "/steps", "/run-templates",
    "/datasets/unmatched", "/api/v1/templates", "/api/v1/datasets", "/api/v1/chains",
    "/api/v1/tasks", "/api/v1/steps", "/api/v1/times", "/api/v1/run-templates",
    "/api/v1/unmatched", "/api/v1/pilots/{uid}", "/asking", "/api/v1/asking/steps",
}  # fmt: skip


#: Routes whose answers do not name the object, or name it in the bytes of an archive.
ROUTES_WITHOUT_NAMES = {
    "/api/v1/datasets/{uid}/status", "/api/v1/jobs/{job}/explain", "/api/v1/jobs/{job}/log/live",
    "/api/v1/tasks/{uid}/explain", "/api/v1/tasks/{uid}/outlook",
    "/datasets/{uid}/files/{file}/image", "/run-templates/{template_id}/files",
    "/templates/{name}/files", "/api/v1/templates/{name}/trigger",
}  # fmt: skip


def _fill_address(row: Row, objects: GroupObjects) -> str:
    """Return the address with objects of the owner, or with objects that exist for all groups."""
    others: dict[str, Any] = {
        "uid": _find_pilot(objects.owner),
        "number": 1,
        "run": 1,
        "name": "input",
    }
    return objects.fill_address(row) or get_service_path(
        row, _PART.sub(lambda part: str(others.get(part[1], "nothing")), row.address)
    )


@cache
def _find_pilot(member: Member) -> str:
    """Return the uid of the first pilot."""
    return str(read_json(member.ask("GET", "/api/v1/pilots"))["pilots"][0]["uid"])


def _shows_unnamed_objects(answer: httpx.Response, address: str) -> bool:
    """Return whether the answer shows more of the owner's objects than the request has named."""
    requested_parts = [part for part in address.split("/") if MARK in part]
    text = answer.text
    for part in requested_parts:
        text = text.replace(part, "")
    return MARK in text


def test_members_of_the_group_see_its_objects(
    group_system: LiveSystem, objects: GroupObjects
) -> None:
    """Otherwise the next test would find nothing."""
    colleague, answers_without_mark = create_member(group_system, "alpha", role=Role.VIEWER), []
    for row in READS:
        address = _fill_address(row, objects)
        named = objects.fill_address(row) is not None and row.service == "wfms.operator"
        named = named and row.address not in ROUTES_WITHOUT_NAMES
        if row.address in ROUTES_WITH_NAMES or (named and row.lets("viewer")):
            answer = colleague.ask("GET", address)
            if not answer.is_success or MARK not in answer.content.decode("latin-1"):
                answers_without_mark.append((row.address, answer.status_code))
    assert answers_without_mark == [], "\n".join(map(str, answers_without_mark))


def test_stranger_sees_no_objects_of_the_group_on_any_route(
    objects: GroupObjects, outsider: Member
) -> None:
    answers = []
    for row in READS:
        address = _fill_address(row, objects)
        answer = outsider.ask("GET", address)
        if _shows_unnamed_objects(answer, address) or answer.status_code >= 500:
            answers.append((row.service, row.address, answer.status_code, answer.text[:200]))
    assert answers == []


@pytest.mark.parametrize(
    "query",
    [
        "/services/dms/api/v1/logs?url={log_url}",
        "/services/dms/api/v1/archive?dataset_uid={dataset}&format=tar",
        "/services/dms/api/v1/datasets?uid={dataset}",
        "/services/dms/api/v1/datasets?state=closed&name=" + f"{MARK}-week",
        "/api/v1/datasets?newest=true",
        "/api/v1/chains?dataset_uid={dataset}",
        "/services/chains/api/v1/chains?uses={dataset}",
        "/services/chains/api/v1/chains?uid={chain}",
        "/services/chains/api/v1/chains?ended=true",
        "/services/chains/api/v1/tasks?chain_uid={chain}",
        "/services/wms/api/v1/tasks?uid={task}",
        "/services/wms/api/v1/times?chain_uid={chain}",
        "/services/wms/api/v1/times?template={template}",
        "/api/v1/templates?all=true&disabled=true",
        "/datasets?name=" + f"{MARK}-week",
        "/chains/new?template={template}&dataset={dataset}",
        "/times?template={template}",
    ],
)
def test_queries_show_no_objects_of_the_group_to_a_stranger(
    objects: GroupObjects, outsider: Member, query: str
) -> None:
    address = query.format(
        log_url=objects.log_url,
        dataset=objects.dataset,
        chain=objects.chain,
        task=objects.task,
        template=objects.template,
    )
    own_answer = objects.owner.ask("GET", address)
    assert own_answer.is_success
    answer = outsider.ask("GET", address)
    shown_text = answer.text
    for own_name in (objects.template, f"{MARK}-week", objects.log_url):
        shown_text = shown_text.replace(own_name, "") if own_name in address else shown_text
    assert MARK not in shown_text
    if "times?" in query and "/api/" in query:
        assert own_answer.json()["steps"]
        assert answer.json()["steps"] == []


def _remove_requested_names(answer: httpx.Response, objects: GroupObjects) -> str:
    """Return the text of the answer without the requested names and without form tokens."""
    text = re.sub(r'name="csrf" value="[^"]*"', "", answer.text)
    text = re.sub(r"nothing-at-all|1099511627776", "", text)
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "", text)
    for own_name in (
        objects.template,
        str(objects.job),
        objects.human_task.template,
        objects.human_task.step,
    ):
        text = text.replace(own_name, "")
    return text


def test_stranger_gets_not_found_for_objects_of_the_group(
    objects: GroupObjects, outsider: Member
) -> None:
    """Each route that names an object gives the same status and the same text."""
    differences, request_count = [], 0
    for row in ROWS:
        address = objects.fill_address(row)
        if address is None:
            continue
        request_count += 1
        body: dict[str, Any] = {} if row.method == "GET" else {"json": _get_valid_body(row)}
        hidden, nothing = (
            outsider.ask(row.method, each, **body)
            for each in (address, objects.fill_missing_address(row))
        )
        words = [_remove_requested_names(each, objects) for each in (hidden, nothing)]
        if hidden.status_code != nothing.status_code or words[0] != words[1]:
            differences.append((row.method, address, hidden.status_code, hidden.text[:200]))
    assert differences == []
    assert request_count > 80


def test_stranger_gets_not_found_for_human_tasks_of_the_group(
    objects: GroupObjects, outsider: Member
) -> None:
    """Both services that serve human tasks show no step, link or browser."""
    rows = [
        row
        for row in ROWS
        if row.address.startswith("/api/v1/asking") and objects.fill_address(row)
    ]
    assert {row.service for row in rows} == {"wfms.operator", "wfms.ask"}
    assert len(rows) == 12
    statuses = {
        (row.method, address): outsider.ask(
            row.method, address, json=_get_valid_body(row)
        ).status_code
        for row in rows
        if (address := objects.fill_address(row))
    }
    assert statuses == dict.fromkeys(statuses, 404)
    assert outsider.ask("GET", f"/asking/{objects.human_task.path}").status_code == 404
    [browser] = read_json(
        objects.owner.ask("GET", f"/api/v1/asking/steps/{objects.human_task.path}/browsers")
    )["browsers"]
    assert browser["state"] == BrowserState.COUNTED
    [link] = read_json(
        objects.owner.ask("GET", f"/api/v1/asking/steps/{objects.human_task.path}/links")
    )["links"]
    assert link["ended_at"] is None


#: Valid bodies by the last part of the route.
_BODIES: dict[str, dict[str, Any]] = {
    "share": {"shared_with": ["gamma"], "group": "gamma"},
    "rank": {"rank": 5},
    "restore": {"version": 1},
    "acknowledge": {"by": "me"},
    "files": {"files": []},
    "state": {"state": BrowserState.EXCLUDED},
}


def _get_valid_body(row: Row) -> dict[str, Any]:
    return _BODIES.get(row.address.rsplit("/", 1)[-1], {})


def test_objects_of_the_group_are_unchanged_after_requests_of_a_stranger(
    objects: GroupObjects, outsider: Member
) -> None:
    test_stranger_gets_not_found_for_objects_of_the_group(objects, outsider)
    owner = objects.owner
    assert (
        read_json(owner.ask("GET", f"/api/v1/datasets/{objects.dataset}"))["state"]
        == DatasetState.CLOSED
    )
    [chain] = list_chains(owner, objects.dataset)
    assert (chain["state"], chain["group"], chain["rank"]) == ("finished", "alpha", 0.0)
    template = read_json(owner.ask("GET", f"/api/v1/templates/{objects.template}"))
    assert (template["version"], template["group"]) == (1, "alpha")
    assert MARK in owner.ask("GET", "/api/v1/unmatched").text


@pytest.mark.parametrize("service", ["", "/services/dms", "/services/chains", "/services/wms"])
def test_delegation_header_of_a_person_is_ignored(
    objects: GroupObjects, outsider: Member, service: str
) -> None:
    """Only services may make requests for a person."""
    principal = json.dumps({"name": "root", "role": "admin", "groups": ["alpha"]})
    path = {"/services/chains": "chains", "/services/wms": "tasks"}.get(service, "datasets")
    answer = httpx.get(
        f"{outsider.url}{service}/api/v1/{path}",
        headers=make_bearer_header(outsider.token) | {ON_BEHALF_HEADER: principal},
        timeout=30,
    )
    assert answer.is_success
    assert MARK not in answer.text
