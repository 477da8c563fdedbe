"""Tests that groups and people cannot exceed their quotas, even with concurrent requests."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from typer.testing import CliRunner

from sluice.cli.app import command_line
from sluice.network.credentials import token_for
from tests.attacks.access.two_groups import (
    Member,
    create_dataset,
    create_member,
    list_chains,
    read_json,
)
from tests.attacks.credentials import ask_as_admin, make_bearer_header
from tests.e2e.systems import LiveSystem, run_live_system
from tests.waiting import wait_until

pytestmark = pytest.mark.xdist_group("attacks-quotas")

#: Chains of this template run until they are canceled, as there is no pilot.
TEMPLATE = """
cwlVersion: v1.2
class: Workflow
$namespaces: {sluice: "urn:sluice:cwl:"}
sluice:match: {kind: GROUP}
inputs: {texts: "File[]"}
outputs: {all: {type: File, outputSource: all/all}}
steps:
  all:
    in: {texts: texts}
    out: [all]
    run:
      class: CommandLineTool
      baseCommand: cat
      arguments: [$(inputs.texts)]
      inputs: {texts: "File[]"}
      stdout: all
      outputs: {all: stdout}
"""


@pytest.fixture(scope="module")
def system_with_limits() -> Iterator[LiveSystem]:
    environment = {"SLUICE_OPERATOR_REQUESTS_A_MINUTE": "300"}
    with run_live_system("--pilots", "0", environment=environment) as system:
        yield system


def _create_group(system: LiveSystem, name: str) -> dict[str, Any]:
    [entry] = [each for each in ask_as_admin(system, "GET", "/groups", {})["groups"]
               if each["name"] == name]  # fmt: skip
    return dict(entry)


def _register_file(
    owner: Member, system: LiveSystem, number: int, *, size: int | None = None
) -> httpx.Response:
    """Register a file in a new data set and return the answer."""
    name = f"{owner.name}-{number}"
    folder = system.home / "storages" / "input" / name
    folder.mkdir(parents=True)
    (folder / "f").write_bytes(b"0123456789")
    [storage] = [each for each in read_json(owner.ask("GET", "/api/v1/storages"))
                 if each["type"] == "input"]  # fmt: skip
    url = f"{storage['url']}/{name}"
    dataset = read_json(owner.ask("POST", "/api/v1/datasets", json={"name": name, "url": url}))
    checksum = "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882"
    file = {"seq": 0, "name": "f", "size": 10, "checksum": f"sha256:{checksum}", "url": f"{url}/f"}
    if size is not None:  # The file is registered without its content.
        file |= {"size": size, "released": True}
    path = f"/api/v1/datasets/{dataset['uid']}/files"
    return owner.ask("POST", path, json={"files": [file]})


@pytest.mark.parametrize("quota", [{"files": 3}, {"bytes": 35}])
def test_data_quota_of_a_group_holds_for_concurrent_requests(
    system_with_limits: LiveSystem, quota: dict[str, int]
) -> None:
    group = f"g-{uuid4().hex[:8]}"
    owner = create_member(system_with_limits, group)
    ask_as_admin(system_with_limits, "PATCH", f"/groups/{group}", quota)
    with ThreadPoolExecutor(8) as threads:
        answers = list(
            threads.map(lambda number: _register_file(owner, system_with_limits, number), range(8))
        )
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses == [200] * 3 + [409] * 5
    refused = next(answer for answer in answers if answer.status_code == 409)
    [what] = quota
    highest_usage = {"files": "3 files", "bytes": "35 B"}[what]
    assert f"the group {group} may have {highest_usage}, and has" in refused.json()["detail"]
    usage = _create_group(system_with_limits, group)
    assert (usage["files"]["used"], usage["bytes"]["used"]) == (3, 30)
    # A changed quota applies at once, and other quotas stay.
    ask_as_admin(system_with_limits, "PATCH", f"/groups/{group}", {what: "none", "weight": 2})
    assert _register_file(owner, system_with_limits, 9).status_code == 200
    assert _create_group(system_with_limits, group)["weight"] == 2
    # Members of another group are not affected.
    assert (
        _register_file(
            create_member(system_with_limits, f"o-{group}"), system_with_limits, 1
        ).status_code
        == 200
    )


def test_full_group_can_repeat_a_registration_and_cannot_be_given_data(
    system_with_limits: LiveSystem,
) -> None:
    """After a lost answer, the same registration adds nothing."""
    group, other = (f"g-{uuid4().hex[:8]}" for _ in range(2))
    owner, member_of_both = (
        create_member(system_with_limits, group),
        create_member(system_with_limits, group, other),
    )
    ask_as_admin(system_with_limits, "PATCH", f"/groups/{group}", {"files": 1, "bytes": 10})
    first = _register_file(owner, system_with_limits, 0)
    repeated_answer = owner.ask(
        "POST", first.request.url.path, json=json.loads(first.request.content)
    )
    assert (repeated_answer.status_code, repeated_answer.json()) == (200, {"new": 0, "known": 1})
    assert _register_file(owner, system_with_limits, 1).status_code == 409

    uid = _register_file(member_of_both, system_with_limits, 0).request.url.path.split("/")[
        -2
    ]  # The first group of this person is full.
    assert read_json(member_of_both.ask("GET", f"/api/v1/datasets/{uid}"))["group"] == group
    own = {"name": f"own-{group}", "group": other}
    dataset_uid = read_json(member_of_both.ask("POST", "/api/v1/datasets", json=own))["uid"]
    path = f"/api/v1/datasets/{dataset_uid}"
    file = json.loads(first.request.content)["files"][0]
    read_json(member_of_both.ask("POST", f"{path}/files", json={"files": [file]}))
    refused = member_of_both.ask("PUT", f"{path}/share", json={"shared_with": [], "group": group})
    assert refused.status_code == 409, refused.text
    assert f"the group {group} may have" in refused.json()["detail"]
    read_json(
        member_of_both.ask("PUT", f"{path}/share", json={"shared_with": [group], "group": other})
    )


def test_chain_quota_refuses_manual_chains_and_delays_automatic_chains(
    system_with_limits: LiveSystem,
) -> None:
    group = f"g-{uuid4().hex[:8]}"
    owner = create_member(system_with_limits, group)
    ask_as_admin(system_with_limits, "PATCH", f"/groups/{group}", {"chains": 2})
    cwl = TEMPLATE.replace("GROUP", group)
    read_json(owner.ask("POST", "/api/v1/templates", json={"name": group, "cwl": cwl}))
    uids = [
        create_dataset(owner, system_with_limits, f"{group}-{n}", {"kind": group}) for n in range(3)
    ]
    wait_until(
        lambda: (
            len(_create_chains(owner, uids)) == 2
            and _create_group(system_with_limits, group)["chains"]["used"] == 2
        ),
        what="two chains",
    )
    [remaining_uid] = [uid for uid in uids if not list_chains(owner, uid)]
    refused = owner.ask(
        "POST", "/api/v1/chains", json={"dataset_uid": remaining_uid, "template": group}
    )
    assert refused.status_code == 409
    sentence = f"the group {group} may have 2 chains at a time, and has 2"
    assert refused.json()["detail"].startswith(sentence)
    assert remaining_uid not in owner.ask("GET", "/api/v1/unmatched").text
    path = f"/datasets/{remaining_uid}"
    waits = f"{sentence}: it begins when one has ended"
    wait_until(
        lambda: read_json(owner.ask("GET", f"/api/v1{path}/status")).get("chain_waits") == waits,
        what="the reason why the chain waits",
    )
    assert "Its chain waits" in (page := owner.ask("GET", path).text)
    assert waits[1:] in page
    [first] = list_chains(owner, next(uid for uid in uids if uid != remaining_uid))
    read_json(
        owner.ask(
            "POST", f"/api/v1/chains/{first['uid']}/cancel", json={"reason": "another is needed"}
        )
    )
    wait_until(lambda: list_chains(owner, remaining_uid), what="the third chain", seconds=60)


def _create_chains(owner: Member, uids: list[str]) -> list[Any]:
    return [chain for uid in uids for chain in list_chains(owner, uid)]


def test_quota_of_a_person_holds_across_groups(system_with_limits: LiveSystem) -> None:
    one, two = (f"g-{uuid4().hex[:8]}" for _ in range(2))
    owner, colleague = (
        create_member(system_with_limits, one, two),
        create_member(system_with_limits, one),
    )
    ask_as_admin(
        system_with_limits, "PATCH", f"/people/{owner.name}/quotas", {"files": 3, "chains": 0}
    )
    with ThreadPoolExecutor(8) as threads:
        answers = list(
            threads.map(lambda number: _register_file(owner, system_with_limits, number), range(8))
        )
    assert sorted(answer.status_code for answer in answers) == [200] * 3 + [409] * 5
    refused = next(answer for answer in answers if answer.status_code == 409)
    assert f"{owner.name} may have 3 files, and has 3" in refused.json()["detail"]
    assert f"sluice user quota {owner.name}" in refused.json()["detail"]
    # A colleague is not affected.
    assert _register_file(colleague, system_with_limits, 0).status_code == 200
    accepted = next(answer for answer in answers if answer.status_code == 200)
    uid = accepted.request.url.path.split("/")[-2]
    read_json(owner.ask("POST", f"/api/v1/datasets/{uid}/close", json={}))

    cwl = TEMPLATE.replace("GROUP", one)
    read_json(owner.ask("POST", "/api/v1/templates", json={"name": one, "cwl": cwl}))
    own_request = {"dataset_uid": uid, "template": one}
    refused = owner.ask("POST", "/api/v1/chains", json=own_request)
    assert refused.status_code == 409
    assert f"{owner.name} may have 0 chains at a time, and has 0" in refused.json()["detail"]
    ask_as_admin(system_with_limits, "PATCH", f"/people/{owner.name}/quotas", {"chains": "none"})
    read_json(owner.ask("POST", "/api/v1/chains", json=own_request))
    assert read_json(owner.ask("GET", f"/api/v1/people/{owner.name}/quotas"))["chains"]["used"] == 1


def test_assets_count_towards_the_data_quota_of_a_person(
    system_with_limits: LiveSystem, tmp_path: Path
) -> None:
    owner = create_member(system_with_limits)
    ask_as_admin(system_with_limits, "PATCH", f"/people/{owner.name}/quotas", {"bytes": 5})
    model = tmp_path / "model.bin"
    model.write_bytes(b"0123456789")
    environment = {"SLUICE_URL": system_with_limits.url, "SLUICE_TOKEN": owner.token}
    put = ["asset", "put", f"a-{owner.name}", str(model)]
    result = CliRunner().invoke(command_line("asset"), put, env=environment)
    assert result.exit_code == 1, result.output
    assert f"{owner.name} may have 5 B, and has 0 B" in result.output.replace("\n", " ")
    has = read_json(owner.ask("GET", f"/api/v1/people/{owner.name}/quotas"))
    assert (has["bytes"]["used"], has["files"]["used"]) == (0, 0)
    ask_as_admin(system_with_limits, "PATCH", f"/people/{owner.name}/quotas", {"bytes": 10})
    result = CliRunner().invoke(command_line("asset"), put, env=environment)
    assert result.exit_code == 0, result.output


def test_huge_file_sizes_do_not_break_the_display_of_quotas(system_with_limits: LiveSystem) -> None:
    owner = create_member(system_with_limits, f"g-{uuid4().hex[:8]}")
    for number in range(3):
        answer = _register_file(owner, system_with_limits, number, size=2**63 - 1)
        assert answer.status_code in {200, 422}, answer.text
    assert read_json(owner.ask("GET", "/api/v1/groups"))["groups"]
    assert (
        read_json(owner.ask("GET", f"/api/v1/people/{owner.name}/quotas"))["bytes"]["used"] <= 2**63
    )
    assert owner.ask("GET", "/groups").status_code == 200


@pytest.mark.parametrize("body", [{"bytes": True}, {"weight": True}, {"weight": 5e-324}])
def test_quota_that_is_not_a_number_is_refused(
    system_with_limits: LiveSystem, body: dict[str, Any]
) -> None:
    answer = httpx.patch(
        f"{system_with_limits.url}/api/v1/groups/g",
        json=body,
        headers=make_bearer_header(token_for(system_with_limits.url) or ""),
    )
    assert answer.status_code == 422, answer.text


def test_person_sees_only_the_own_quotas(system_with_limits: LiveSystem) -> None:
    owner, other = create_member(system_with_limits), create_member(system_with_limits)
    ask_as_admin(system_with_limits, "PATCH", f"/people/{owner.name}/quotas", {"waiting": 1000})
    path = f"/api/v1/people/{owner.name}/quotas"
    assert read_json(owner.ask("GET", path))["waiting"] == {"used": 0, "most": 1000}
    assert other.ask("GET", path).status_code == 403
    # The answer is the same for a person who does not exist.
    nobody = other.ask("GET", "/api/v1/people/nobody-at-all/quotas")
    assert nobody.status_code == 403
    assert nobody.json()["detail"] == other.ask("GET", path).json()["detail"]
    for who in (owner, other):
        assert who.ask("PATCH", path, json={"waiting": "none"}).status_code == 403
    page = owner.ask("GET", "/account").text
    assert "1000" in page.replace("\u2009", "").replace("\u202f", "").replace(" ", "")


def test_members_see_the_quotas_of_their_groups_and_cannot_set_them(
    system_with_limits: LiveSystem,
) -> None:
    group = f"g-{uuid4().hex[:8]}"
    one, other = (
        create_member(system_with_limits, group),
        create_member(system_with_limits, f"o-{group}"),
    )
    ask_as_admin(system_with_limits, "PATCH", f"/groups/{group}", {"chains": 7})
    names = {each["name"] for each in read_json(one.ask("GET", "/api/v1/groups"))["groups"]}
    assert group in names
    assert f"o-{group}" not in names
    assert group not in other.ask("GET", "/groups").text.replace(f"o-{group}", "")
    for who in (one, other):
        refused = who.ask("PATCH", f"/api/v1/groups/{group}", json={"chains": "none"})
        assert refused.status_code == 403
    for name in ("UPPER", "a%20b"):
        invalid_response = httpx.patch(
            f"{system_with_limits.url}/api/v1/groups/{name}",
            json={"chains": 1},
            headers=make_bearer_header(token_for(system_with_limits.url) or ""),
        )
        assert invalid_response.status_code == 422, invalid_response.text


def test_group_command_sets_and_lists_quotas(system_with_limits: LiveSystem) -> None:
    group = f"g-{uuid4().hex[:8]}"
    environment = {
        "SLUICE_URL": system_with_limits.url,
        "SLUICE_TOKEN": token_for(system_with_limits.url) or "",
    }

    def run(*arguments: str, code: int = 0) -> str:
        command = command_line("group")
        result = CliRunner().invoke(command, ["group", *arguments], env=environment)
        assert result.exit_code == code, result.output
        return result.output

    output = run(
        "set", group, "--weight", "2.5", "--chains", "10", "--data", "1.5TB", "--files", "2M"
    )
    assert f"{group}: weight 2.5; has 0 of 10 chains" in output
    quota = _create_group(system_with_limits, group)
    highest_usage = [quota[what]["most"] for what in ("chains", "bytes", "files")]
    assert highest_usage == [10, 1_500_000_000_000, 2_000_000]
    run("set", group, "--chains", "none")
    assert _create_group(system_with_limits, group)["chains"]["most"] is None
    assert _create_group(system_with_limits, group)["files"]["most"] == 2_000_000
    assert group in run("list")
    assert "is not an amount" in run("set", group, "--data", "lots", code=2)
    assert "1000 jobs waiting" in run("set", group, "--waiting", "1k")


def test_register_command_creates_no_data_set_beyond_the_quota(
    system_with_limits: LiveSystem, tmp_path: Path
) -> None:
    """The name stays free until there is space."""
    owner = create_member(system_with_limits, f"g-{uuid4().hex[:8]}")
    ask_as_admin(system_with_limits, "PATCH", f"/people/{owner.name}/quotas", {"files": 1})
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(name)
    environment = {"SLUICE_URL": system_with_limits.url, "SLUICE_TOKEN": owner.token}
    register = ["dataset", "register", f"two-{owner.name}", str(tmp_path)]
    result = CliRunner().invoke(command_line("dataset"), register, env=environment)
    assert result.exit_code == 1, result.output
    output = " ".join(result.output.split())
    assert f"{owner.name} may have 1 file, and has 0: this would add 2 files" in output
    ask_as_admin(system_with_limits, "PATCH", f"/people/{owner.name}/quotas", {"files": 2})
    result = CliRunner().invoke(command_line("dataset"), register, env=environment)
    assert result.exit_code == 0, result.output


def test_user_command_sets_and_shows_quotas_of_a_person(system_with_limits: LiveSystem) -> None:
    owner = create_member(system_with_limits)

    def run(token: str, *arguments: str, code: int = 0) -> str:
        environment = {"SLUICE_URL": system_with_limits.url, "SLUICE_TOKEN": token}
        command = command_line("user")
        result = CliRunner().invoke(command, ["user", "quota", *arguments], env=environment)
        assert result.exit_code == code, result.output
        return result.output

    administrator = token_for(system_with_limits.url) or ""
    line = f"{owner.name} has 0 of 5 chains, 0 B of 2.0 GB, 0 files, 0 of 100 jobs waiting"
    assert line in run(
        administrator, owner.name, "--chains", "5", "--data", "2GB", "--waiting", "100"
    )
    assert line in run(owner.token)
    assert f"{owner.name} has 0 chains" in run(administrator, owner.name, "--chains", "none")
    assert "give the name of a person" in run(administrator, "--chains", "1", code=2)
    assert "no account is named" in run(administrator, "nobody", "--chains", "1", code=1)


def test_too_many_requests_of_a_person_are_refused_and_others_are_not_affected(
    system_with_limits: LiveSystem,
) -> None:
    eager_person, other = create_member(system_with_limits), create_member(system_with_limits)
    answers = [eager_person.ask("GET", "/healthz") for _ in range(320)]
    statuses = [answer.status_code for answer in answers]
    # The requests may reach into the next minute.
    assert 300 <= statuses.count(200) <= 319
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert f"{eager_person.name} has sent 300 requests within a minute" in refused.json()["detail"]
    assert other.ask("GET", "/healthz").status_code == 200
    owner = make_bearer_header(token_for(system_with_limits.url) or "")
    with httpx.Client(headers=owner) as http:
        assert {http.get(f"{system_with_limits.url}/healthz").status_code for _ in range(320)} == {
            200
        }
