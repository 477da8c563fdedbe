"""Two groups on one system: neither sees, or changes, what is the other's, on whatever route of
whatever service, unless it is shared."""

import json
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import httpx
import pytest

from sluice.contracts.access import ON_BEHALF_HEADER, Role
from tests.attacks.credentials import asked, bearer
from tests.attacks.two_groups import (
    MARK,
    TEMPLATE,
    Belongings,
    Member,
    bring_in,
    chains_of,
    got,
    member,
    path_of,
    work_of,
)
from tests.e2e.systems import LiveSystem, live_system
from tests.unit.access.table import Row, rows
from tests.waiting import wait_until

pytestmark = pytest.mark.xdist_group("attacks-groups")

#: Rows that the second group's person asks for: what a person of her role may.
ROWS = [row for row in rows() if row.lets("shift")]
READS = [row for row in ROWS if row.method == "GET"]
_PART = re.compile(r"\{(\w+)\}")

#: Routes that show what is hers to whoever is in her group: where no answer to these has the mark,
#: the walk below finds nothing, whatever leaks.
TELLING = {
    "/", "/templates", "/datasets", "/chains", "/tasks", "/steps", "/run-templates",
    "/datasets/unmatched", "/api/v1/templates", "/api/v1/datasets", "/api/v1/chains",
    "/api/v1/tasks", "/api/v1/steps", "/api/v1/times", "/api/v1/run-templates",
    "/api/v1/unmatched", "/api/v1/pilots/{uid}",
}  # fmt: skip


#: Routes of things of hers that do not name them, or as bytes of an archive.
SILENT = {
    "/api/v1/datasets/{uid}/status", "/api/v1/jobs/{job}/explain", "/api/v1/jobs/{job}/log/live",
    "/api/v1/tasks/{uid}/explain", "/api/v1/tasks/{uid}/outlook",
    "/datasets/{uid}/files/{file}/image", "/run-templates/{template_id}/files",
    "/templates/{name}/files",
}  # fmt: skip


@pytest.fixture(scope="module")
def system() -> Iterator[LiveSystem]:
    with live_system("--pilots", "1") as running:
        yield running


@pytest.fixture(scope="module")
def hers(system: LiveSystem) -> Belongings:
    return work_of(system, member(system, "alpha"))


@pytest.fixture(scope="module")
def stranger(system: LiveSystem, hers: Belongings) -> Member:
    return member(system, "beta")


@pytest.fixture(scope="module")
def onlooker(system: LiveSystem, hers: Belongings) -> Member:
    """Of a group that has nothing."""
    return member(system, "gamma")


def _address(row: Row, hers: Belongings) -> str:
    """With what is hers in its parts, and else with what there is for all."""
    pilot = got(hers.owner.ask("GET", "/api/v1/pilots"))["pilots"][0]["uid"]
    others: dict[str, Any] = {"uid": pilot, "number": 1, "run": 1, "name": "input"}
    return hers.address(row) or path_of(
        row, _PART.sub(lambda part: str(others.get(part[1], "nothing")), row.address)
    )


def _shown(answer: httpx.Response, address: str) -> bool:
    """Does it say more than what was asked for?"""
    asked_for = [part for part in address.split("/") if MARK in part]
    text = answer.text
    for part in asked_for:
        text = text.replace(part, "")
    return MARK in text


def test_her_group_is_shown_what_is_hers(system: LiveSystem, hers: Belongings) -> None:
    """Else the walk finds nothing."""
    colleague, silent = member(system, "alpha", role=Role.VIEWER), []
    for row in READS:
        address = _address(row, hers)
        named = hers.address(row) is not None and row.service == "wfms.operator"
        named = named and row.address not in SILENT
        if row.address in TELLING or (named and row.lets("viewer")):
            answer = colleague.ask("GET", address)
            if not answer.is_success or MARK not in answer.content.decode("latin-1"):
                silent.append((row.address, answer.status_code))
    assert silent == [], "\n".join(map(str, silent))


def test_a_stranger_is_shown_nothing_of_it(hers: Belongings, onlooker: Member) -> None:
    told = []
    for row in READS:
        address = _address(row, hers)
        answer = onlooker.ask("GET", address)
        if _shown(answer, address) or answer.status_code >= 500:
            told.append((row.service, row.address, answer.status_code, answer.text[:200]))
    assert told == []


@pytest.mark.parametrize(
    "query",
    [
        "/services/dms/api/v1/logs?url={log_url}",
        "/services/dms/api/v1/archive?dataset={dataset}&format=tar",
        "/services/dms/api/v1/datasets?uid={dataset}",
        "/services/dms/api/v1/datasets?state=closed&name=" + f"{MARK}-week",
        "/api/v1/datasets?newest=true",
        "/api/v1/chains?dataset={dataset}",
        "/services/chains/api/v1/chains?uses={dataset}",
        "/services/chains/api/v1/chains?uid={chain}",
        "/services/chains/api/v1/chains?ended=true",
        "/services/chains/api/v1/tasks?chain={chain}",
        "/services/wms/api/v1/tasks?uid={task}",
        "/services/wms/api/v1/times?chain={chain}",
        "/services/wms/api/v1/times?template={template}",
        "/api/v1/templates?all=true&disabled=true",
        "/datasets?name=" + f"{MARK}-week",
        "/chains/new?template={template}&dataset={dataset}",
        "/times?template={template}",
    ],
)
def test_no_question_brings_it_out(hers: Belongings, onlooker: Member, query: str) -> None:
    address = query.format(
        log_url=hers.log_url,
        dataset=hers.dataset,
        chain=hers.chain,
        task=hers.task,
        template=hers.template,
    )
    told = hers.owner.ask("GET", address)
    assert told.is_success
    answer = onlooker.ask("GET", address)
    shown = answer.text
    for given in (hers.template, f"{MARK}-week", hers.log_url):
        shown = shown.replace(given, "") if given in address else shown
    assert MARK not in shown
    if "times?" in query and "/api/" in query:
        assert told.json()["steps"]
        assert answer.json()["steps"] == []


def _without_names(answer: httpx.Response, hers: Belongings) -> str:
    """What it says, but for the uid that was asked for, and for forms' tokens."""
    text = re.sub(r'name="csrf" value="[^"]*"', "", answer.text)
    text = re.sub(r"nothing-at-all|1099511627776", "", text)
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "", text)
    for given in (hers.template, str(hers.job)):
        text = text.replace(given, "")
    return text


def test_hers_is_for_a_stranger_as_what_there_is_not(hers: Belongings, onlooker: Member) -> None:
    """On every route that names it: the same status, the same words."""
    differ, asked_for = [], 0
    for row in ROWS:
        address = hers.address(row)
        if address is None:
            continue
        asked_for += 1
        body: dict[str, Any] = {} if row.method == "GET" else {"json": _body(row)}
        found, nothing = (
            onlooker.ask(row.method, each, **body) for each in (address, hers.elsewhere(row))
        )
        words = [_without_names(each, hers) for each in (found, nothing)]
        if found.status_code != nothing.status_code or words[0] != words[1]:
            differ.append((row.method, address, found.status_code, found.text[:200]))
    assert differ == []
    assert asked_for > 80


#: That routes would take, by how they end.
_BODIES: dict[str, dict[str, Any]] = {
    "share": {"shared_with": ["gamma"], "group": "gamma"},
    "rank": {"rank": 5},
    "restore": {"version": 1},
    "acknowledge": {"by": "me"},
    "files": {"files": []},
}


def _body(row: Row) -> dict[str, Any]:
    return _BODIES.get(row.address.rsplit("/", 1)[-1], {})


def test_what_is_hers_is_as_it_was(hers: Belongings, onlooker: Member) -> None:
    """After all that the stranger has asked for."""
    test_hers_is_for_a_stranger_as_what_there_is_not(hers, onlooker)
    owner = hers.owner
    assert got(owner.ask("GET", f"/api/v1/datasets/{hers.dataset}"))["state"] == "closed"
    [chain] = chains_of(owner, hers.dataset)
    assert (chain["state"], chain["group"], chain.get("rank")) == ("finished", "alpha", None)
    template = got(owner.ask("GET", f"/api/v1/templates/{hers.template}"))
    assert (template["version"], template["group"]) == (1, "alpha")
    assert MARK in owner.ask("GET", "/api/v1/unmatched").text


def test_what_is_shared_is_read_and_not_changed(
    system: LiveSystem, hers: Belongings, stranger: Member
) -> None:
    uid = bring_in(hers.owner, system, f"{MARK}-shared", {"kind": "x"})
    path = f"/api/v1/datasets/{uid}"
    assert stranger.ask("GET", path).status_code == 404

    got(hers.owner.ask("PUT", f"{path}/share", json={"shared_with": ["beta"]}))

    seen = got(stranger.ask("GET", path))
    assert (seen["owner"], seen["group"]) == (hers.owner.name, "alpha")
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
    assert got(hers.owner.ask("GET", path))["state"] == "closed"


def test_a_shared_template_is_used_for_ones_own_data_and_not_changed(
    system: LiveSystem, hers: Belongings, stranger: Member
) -> None:
    path = f"/api/v1/templates/{hers.template}"
    got(hers.owner.ask("PUT", f"{path}/share", json={"shared_with": ["beta"]}))
    own = bring_in(stranger, system, "his-own", {"kind": MARK})
    wait_until(lambda: own in stranger.ask("GET", "/api/v1/unmatched").text, what="his data set")

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


def test_a_name_that_is_taken_says_nothing_of_whose_it_is(
    hers: Belongings, stranger: Member
) -> None:
    """The same request as hers, too, which for her gives the first."""
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


def test_her_files_are_not_registered_as_ones_own(
    system: LiveSystem, hers: Belongings, stranger: Member
) -> None:
    path = "/services/dms/api/v1/datasets"
    [first, _] = got(hers.owner.ask("GET", f"{path}/{hers.dataset}/files"))["files"]
    wanted = {key: first[key] for key in ("seq", "name", "size", "checksum", "url")}
    own = got(stranger.ask("POST", path, json={"name": "his-trap"}))["uid"]
    beside = wanted | {"url": wanted["url"].replace("-0.txt", "-9.txt")}
    for file in (wanted, wanted | {"size": 1}, beside):
        refused = stranger.ask("POST", f"{path}/{own}/files", json={"files": [file]})
        assert refused.status_code == 403, refused.text
        assert "another group's" in refused.json()["detail"]
    folder = wanted["url"].rsplit("/", 1)[0]
    for url in (folder, f"{folder}/below"):
        refused = stranger.ask("POST", path, json={"name": "his-folder", "url": url})
        assert refused.status_code == 403, refused.text


def test_no_chain_begins_on_what_is_not_seen(
    system: LiveSystem, hers: Belongings, stranger: Member
) -> None:
    own = bring_in(stranger, system, "his-input", {"kind": "his"})
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


def test_neither_takes_the_others_data_by_a_rule(
    system: LiveSystem, hers: Belongings, stranger: Member
) -> None:
    """Hers is for data of her kind; his data set is of it, and so is his template."""
    first = TEMPLATE.replace("sluice:match", "sluice:priority: 9\nsluice:match", 1)
    got(stranger.ask("POST", "/api/v1/templates", json={"name": "his-greedy", "cwl": first}))
    his = bring_in(stranger, system, "his-of-her-kind", {"kind": MARK})
    new = bring_in(hers.owner, system, f"{MARK}-next", {"kind": MARK})
    for owner, dataset, template in (
        (hers.owner, new, hers.template),
        (stranger, his, "his-greedy"),
    ):
        wait_until(partial(chains_of, owner, dataset), what="a chain")
        assert [chain["template_name"] for chain in chains_of(owner, dataset)] == [template]
    got(stranger.ask("POST", "/api/v1/templates/his-greedy/disable"))
    odd = bring_in(stranger, system, "his-odd", {"kind": MARK})
    wait_until(lambda: odd in stranger.ask("GET", "/api/v1/unmatched").text, what="his odd one")
    for address in ("/api/v1/unmatched", "/datasets/unmatched", f"/datasets/{odd}"):
        assert hers.template not in stranger.ask("GET", address).text


@pytest.mark.parametrize("service", ["", "/services/dms", "/services/chains", "/services/wms"])
def test_nobody_asks_for_somebody_else(hers: Belongings, onlooker: Member, service: str) -> None:
    """What services say of whom they ask for is no word of a person's."""
    whom = json.dumps({"name": "root", "role": "admin", "groups": ["alpha"]})
    path = {"/services/chains": "chains", "/services/wms": "tasks"}.get(service, "datasets")
    answer = httpx.get(
        f"{onlooker.url}{service}/api/v1/{path}",
        headers=bearer(onlooker.token) | {ON_BEHALF_HEADER: whom},
        timeout=30,
    )
    assert answer.is_success
    assert MARK not in answer.text


def test_nobody_gives_things_to_others(hers: Belongings, stranger: Member) -> None:
    for service in ("", "/services/dms"):
        for claim in ({"owner": hers.owner.name}, {"group": "alpha"}):
            body = {"name": f"his-gift{service[-3:]}", **claim}
            refused = stranger.ask("POST", f"{service}/api/v1/datasets", json=body)
            assert refused.status_code == 403, refused.text
    cwl = TEMPLATE.replace(MARK, "gift")
    body = {"name": "his-gift", "cwl": cwl, "group": "alpha"}
    assert stranger.ask("POST", "/api/v1/templates", json=body).status_code == 403
    assert stranger.ask("POST", "/api/v1/run-templates", json=body).status_code == 403


def test_whoever_leaves_a_group_sees_nothing_of_it_any_more(
    system: LiveSystem, hers: Belongings
) -> None:
    leaver = member(system, "alpha", "beta")
    addresses = [f"/api/v1/datasets/{hers.dataset}", f"/services/wms/api/v1/tasks/{hers.task}"]
    assert [leaver.ask("GET", each).status_code for each in addresses] == [200, 200]
    asked(system, "PATCH", f"/people/{leaver.name}", {"groups": ["beta"]})
    assert [leaver.ask("GET", each).status_code for each in addresses] == [404, 404]
