"""Tests that the audit log records all changes, has no secrets, and can be read by administrators
alone."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx
import pytest
from typer.testing import CliRunner

from sluice.cli.app import command_line
from sluice.contracts.access.access import Role
from sluice.contracts.common.states import DatasetState
from sluice.network.credentials import token_for
from tests.attacks.access.two_groups import Member, create_member, read_json
from tests.attacks.credentials import ask_as_admin, make_bearer_header
from tests.e2e.systems import LiveSystem, run_live_system
from tests.waiting import wait_until

pytestmark = pytest.mark.xdist_group("attacks-audit")

PASSWORD = "correct horse battery"
DATABASES = ("wfms_operator", "dms", "wms", "wfms_chains", "wfms_intake", "wfms_ask")


@pytest.fixture(scope="module")
def audited_system() -> Iterator[LiveSystem]:
    with run_live_system("--pilots", "0") as system:
        yield system


def list_audit_events(system: LiveSystem, **query: Any) -> list[dict[str, Any]]:
    """Return the audit events, the newest first."""
    answer = httpx.get(
        f"{system.url}/api/v1/audit",
        params=query,
        headers=make_bearer_header(token_for(system.url) or ""),
        timeout=60,
    )
    return list(read_json(answer)["entries"])


def _describe_event(entry: dict[str, Any]) -> tuple[str, int | None]:
    return entry["action"], entry["outcome"]


def test_audit_events_of_an_object_are_found_by_its_name_and_its_uuid(
    audited_system: LiveSystem,
) -> None:
    anna, boris = (
        create_member(audited_system, role=Role.SHIFT),
        create_member(audited_system, role=Role.SHIFT),
    )
    name = f"d-{uuid4().hex[:8]}"
    uid = read_json(anna.ask("POST", "/api/v1/datasets", json={"name": name}))["uid"]
    read_json(anna.ask("POST", "/api/v1/datasets", json={"name": f"{name}-other"}))
    read_json(boris.ask("PUT", f"/api/v1/datasets/{uid}/share", json={"shared_with": []}))
    assert boris.ask("POST", f"/api/v1/datasets/{uid}/close", json={}).status_code == 422
    # The spelling of the UUID and the service do not matter.
    plain = UUID(uid).hex
    for address in (
        f"/services/dms/api/v1/datasets/{plain}/close",
        f"/api/v1/datasets/{uid.upper()}/close",
    ):
        boris.ask("POST", address, json={})
    anna.ask("POST", "/api/v1/chains", json={"dataset_uid": uid, "template": "nothing"})
    anna.ask("POST", "/api/v1/tokens", json={"label": name})
    for key in (uid, name, uid.upper()):
        done = list_audit_events(audited_system, object=key)
        creation, shared, *refused = sorted(done, key=lambda entry: entry["at"])
        assert (creation["who"], creation["action"]) == (anna.name, "POST /api/v1/datasets")
        assert (shared["who"], shared["action"].endswith("/share")) == (boris.name, True)
        assert len(refused) == 3
        assert {entry["who"] for entry in refused} == {boris.name}
    assert list_audit_events(audited_system, object=uid, who=boris.name, what="close")
    assert not list_audit_events(audited_system, object=uid[:-1])
    page = httpx.get(
        f"{audited_system.url}/audit",
        params={"object": name},
        headers=make_bearer_header(token_for(audited_system.url) or ""),
    ).text
    assert f"{name}-other" not in page
    assert f"/api/v1/datasets/{uid}/share" in page


def test_audit_event_has_the_outcome_and_the_facts_of_the_request(
    audited_system: LiveSystem,
) -> None:
    anna = create_member(audited_system, role=Role.SUBMITTER)
    name = f"d-{uuid4().hex[:8]}"
    dataset = read_json(anna.ask("POST", "/api/v1/datasets", json={"name": name}))
    direct = {"name": f"{name}-direct"}
    read_json(anna.ask("POST", "/services/dms/api/v1/datasets", json=direct))
    anna.ask("DELETE", f"/api/v1/storages/{name}/marks")
    anna.ask("POST", "/api/v1/datasets", json={"name": ""})

    events = list_audit_events(audited_system, who=anna.name)

    assert [_describe_event(entry) for entry in events] == [
        ("POST /api/v1/datasets", 422),
        (f"DELETE /api/v1/storages/{name}/marks", 403),
        ("POST /services/dms/api/v1/datasets", 201),
        ("POST /api/v1/datasets", 201),
    ]
    first = events[-1]
    assert (first["role"], first["remote"]) == ("submitter", "127.0.0.1")
    assert (
        first["facts"] | {"uid": dataset["uid"], "name": name, "state": DatasetState.OPEN}
        == first["facts"]
    )


def test_audit_event_lists_the_services_that_were_changed(audited_system: LiveSystem) -> None:
    shift = create_member(audited_system)
    cwl = """
cwlVersion: v1.2
class: Workflow
inputs: {n: int}
outputs: {o: {type: File, outputSource: s/o}}
steps:
  s:
    in: {n: n}
    out: [o]
    run:
      class: CommandLineTool
      baseCommand: [echo]
      arguments: [$(inputs.n)]
      inputs: {n: int}
      stdout: o
      outputs: {o: stdout}
"""
    name = f"t-{uuid4().hex[:8]}"
    read_json(shift.ask("POST", "/api/v1/templates", json={"name": name, "cwl": cwl}))
    chain = read_json(
        shift.ask("POST", "/api/v1/chains", json={"template": name, "params": {"n": 1}})
    )["uid"]
    read_json(shift.ask("POST", f"/api/v1/chains/{chain}/cancel", json={"reason": "why not"}))

    canceled, started, published = list_audit_events(audited_system, who=shift.name)

    assert canceled["action"] == f"POST /api/v1/chains/{chain}/cancel"
    assert canceled["changed"] == ["wfms.chains"]
    assert started["changed"] == ["dms", "wfms.chains"]
    assert started["facts"]["uid"] == chain
    assert published["changed"] == ["wfms.operator"]
    assert published["facts"]["version"] == "1"


def test_sign_ins_and_failed_attempts_are_audited(audited_system: LiveSystem) -> None:
    name = f"p-{uuid4().hex[:8]}"
    ask_as_admin(
        audited_system, "POST", "/people", {"name": name, "password": PASSWORD, "role": "viewer"}
    )
    for password in ("wrong password", PASSWORD):
        httpx.post(
            f"{audited_system.url}/api/v1/sign-in",
            json={"name": name, "password": password},
            timeout=60,
        )
    with httpx.Client(base_url=audited_system.url, timeout=60) as browser:
        browser.post("/sign-in", data={"name": name, "password": PASSWORD})
        browser.post("/sign-out")
    sign_in_events = [
        entry for entry in list_audit_events(audited_system, what="sign") if entry["who"] == name
    ]
    assert [(entry["action"], entry["outcome"], entry["remote"]) for entry in sign_in_events] == [
        ("signs out", 200, "127.0.0.1"),
        ("signs in by password", 200, "127.0.0.1"),
        ("signs in by password", 200, "127.0.0.1"),
        ("signs in by password", 401, "127.0.0.1"),
    ]
    [creation] = list_audit_events(audited_system, what="POST /api/v1/people", limit=1)
    assert creation["facts"] | {"person": name, "role": "viewer"} == creation["facts"]


def test_audit_log_has_no_secrets(audited_system: LiveSystem) -> None:
    """Secrets are in requests and in answers."""
    secrets = [PASSWORD, "another horse battery", f"secret-{uuid4().hex}"]
    name = f"p-{uuid4().hex[:8]}"
    ask_as_admin(audited_system, "POST", "/people", {"name": name, "password": PASSWORD})
    ask_as_admin(audited_system, "PATCH", f"/people/{name}", {"password": secrets[1]})
    secrets.append(
        ask_as_admin(audited_system, "POST", "/tokens", {"label": "x", "person": name})["secret"]
    )
    secrets.append(ask_as_admin(audited_system, "POST", "/sites", {"name": name})["secret"])
    new_secret = {"name": name, "value": secrets[2], "templates": ["*"]}
    ask_as_admin(audited_system, "POST", "/secrets", new_secret)
    httpx.get(f"{audited_system.url}/", params={"token": token_for(audited_system.url)})
    secrets.append(token_for(audited_system.url) or "")
    rows = asyncio.run(_read_all_tables(audited_system))
    assert len(rows) > 10
    assert name in rows
    for secret in secrets:
        assert secret
        assert secret not in rows


async def _read_all_tables(system: LiveSystem) -> str:
    texts: list[str] = []
    for database in DATABASES:
        connection = await asyncpg.connect(system.database_url(database))
        texts += [str(tuple(row)) for row in await connection.fetch("SELECT * FROM audit")]
        await connection.close()
    return "\n".join(texts)


def test_only_administrators_can_read_the_audit_log(audited_system: LiveSystem) -> None:
    shift: Member = create_member(audited_system)
    for path in ("/audit", "/api/v1/audit", "/api/v1/audit/verdict", "/services/dms/api/v1/audit",
                 "/services/chains/api/v1/audit/verdict"):  # fmt: skip
        assert shift.ask("GET", path).status_code == 403
    admin = create_member(audited_system, role=Role.ADMIN)
    assert "Audit log" in admin.ask("GET", "/audit?check=yes").text


def test_pages_of_the_audit_log_have_each_event_once(audited_system: LiveSystem) -> None:
    anna = create_member(audited_system, role=Role.SUBMITTER)
    names = [f"d-{uuid4().hex[:8]}" for _ in range(7)]
    for number, name in enumerate(names):
        path = "/api/v1/datasets" if number % 2 else "/services/dms/api/v1/datasets"
        read_json(anna.ask("POST", path, json={"name": name}))
    names_found: list[str] = []
    after: str | None = None
    while True:
        page = read_json(
            httpx.get(
                f"{audited_system.url}/api/v1/audit",
                params={"who": anna.name, "limit": "2"} | ({"after": after} if after else {}),
                headers=make_bearer_header(token_for(audited_system.url) or ""),
                timeout=60,
            )
        )
        names_found += [entry["facts"]["name"] for entry in page["entries"]]
        after = page["after"]
        if after is None:
            break
    assert names_found == names[::-1]


def test_audit_commands_list_export_and_verify_events(audited_system: LiveSystem) -> None:
    anna = create_member(audited_system, role=Role.SUBMITTER)
    read_json(anna.ask("POST", "/api/v1/datasets", json={"name": f"d-{uuid4().hex[:8]}"}))
    environment = {
        "SLUICE_URL": audited_system.url,
        "SLUICE_TOKEN": token_for(audited_system.url) or "",
    }

    def run(*arguments: str) -> str:
        result = CliRunner().invoke(command_line("audit"), list(arguments), env=environment)
        assert result.exit_code == 0, result.output
        return result.output

    assert "POST /api/v1/datasets" in run("audit", "list", "--who", anna.name, "--days", "1")
    lines = run("audit", "export", "--who", anna.name).splitlines()
    assert [json.loads(line)["who"] for line in lines] == [anna.name]
    verify = run("audit", "verify")
    assert verify.count("unchanged since they were written") == len(DATABASES)


def test_verify_command_finds_a_row_that_was_changed_by_hand(audited_system: LiveSystem) -> None:
    anna = create_member(audited_system, role=Role.SUBMITTER)
    read_json(anna.ask("POST", "/api/v1/datasets", json={"name": f"d-{uuid4().hex[:8]}"}))
    wait_until(
        lambda: not _count_broken_rows(audited_system),
        what="all audit events in the hash chain",
        seconds=30,
    )
    asyncio.run(_change_event(audited_system, anna.name))
    environment = {
        "SLUICE_URL": audited_system.url,
        "SLUICE_TOKEN": token_for(audited_system.url) or "",
    }
    result = CliRunner().invoke(command_line("audit"), ["audit", "verify"], env=environment)
    assert result.exit_code == 1
    assert "is not what was chained" in result.output


def _count_broken_rows(system: LiveSystem) -> int:
    services = ask_as_admin(system, "GET", "/audit/verdict", {})["services"]
    return sum(service["unchained"] for service in services)


async def _change_event(system: LiveSystem, name: str) -> None:
    connection = await asyncpg.connect(system.database_url("wfms_operator"))
    await connection.execute("SET session_replication_role = replica")
    await connection.execute("UPDATE audit SET who = 'somebody else' WHERE who = $1", name)
    await connection.close()
