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
from tests.attacks.access.two_groups import Member, got, member
from tests.attacks.credentials import ask_as_admin, bearer
from tests.e2e.systems import LiveSystem, live_system
from tests.waiting import wait_until

pytestmark = pytest.mark.xdist_group("attacks-audit")

PASSWORD = "correct horse battery"
DATABASES = ("wfms_operator", "dms", "wms", "wfms_chains", "wfms_intake", "wfms_ask")


@pytest.fixture(scope="module")
def audited() -> Iterator[LiveSystem]:
    with live_system("--pilots", "0") as system:
        yield system


def entries(system: LiveSystem, **query: Any) -> list[dict[str, Any]]:
    """Return the audit events, the newest first."""
    answer = httpx.get(
        f"{system.url}/api/v1/audit",
        params=query,
        headers=bearer(token_for(system.url) or ""),
        timeout=60,
    )
    return list(got(answer)["entries"])


def _shown(entry: dict[str, Any]) -> tuple[str, int | None]:
    return entry["action"], entry["outcome"]


def test_audit_events_of_an_object_are_found_by_its_name_and_its_uuid(
    audited: LiveSystem,
) -> None:
    anna, boris = member(audited, role=Role.SHIFT), member(audited, role=Role.SHIFT)
    name = f"d-{uuid4().hex[:8]}"
    uid = got(anna.ask("POST", "/api/v1/datasets", json={"name": name}))["uid"]
    got(anna.ask("POST", "/api/v1/datasets", json={"name": f"{name}-other"}))
    got(boris.ask("PUT", f"/api/v1/datasets/{uid}/share", json={"shared_with": []}))
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
        done = entries(audited, object=key)
        creation, shared, *refused = sorted(done, key=lambda entry: entry["at"])
        assert (creation["who"], creation["action"]) == (anna.name, "POST /api/v1/datasets")
        assert (shared["who"], shared["action"].endswith("/share")) == (boris.name, True)
        assert len(refused) == 3
        assert {entry["who"] for entry in refused} == {boris.name}
    assert entries(audited, object=uid, who=boris.name, what="close")
    assert not entries(audited, object=uid[:-1])
    page = httpx.get(
        f"{audited.url}/audit",
        params={"object": name},
        headers=bearer(token_for(audited.url) or ""),
    ).text
    assert f"{name}-other" not in page
    assert f"/api/v1/datasets/{uid}/share" in page


def test_audit_event_has_the_outcome_and_the_facts_of_the_request(audited: LiveSystem) -> None:
    anna = member(audited, role=Role.SUBMITTER)
    name = f"d-{uuid4().hex[:8]}"
    dataset = got(anna.ask("POST", "/api/v1/datasets", json={"name": name}))
    direct = {"name": f"{name}-direct"}
    got(anna.ask("POST", "/services/dms/api/v1/datasets", json=direct))
    anna.ask("DELETE", f"/api/v1/storages/{name}/marks")
    anna.ask("POST", "/api/v1/datasets", json={"name": ""})

    events = entries(audited, who=anna.name)

    assert [_shown(entry) for entry in events] == [
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


def test_audit_event_lists_the_services_that_were_changed(audited: LiveSystem) -> None:
    shift = member(audited)
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
    got(shift.ask("POST", "/api/v1/templates", json={"name": name, "cwl": cwl}))
    chain = got(shift.ask("POST", "/api/v1/chains", json={"template": name, "params": {"n": 1}}))[
        "uid"
    ]
    got(shift.ask("POST", f"/api/v1/chains/{chain}/cancel", json={"reason": "why not"}))

    canceled, started, published = entries(audited, who=shift.name)

    assert canceled["action"] == f"POST /api/v1/chains/{chain}/cancel"
    assert canceled["changed"] == ["wfms.chains"]
    assert started["changed"] == ["dms", "wfms.chains"]
    assert started["facts"]["uid"] == chain
    assert published["changed"] == ["wfms.operator"]
    assert published["facts"]["version"] == "1"


def test_sign_ins_and_failed_attempts_are_audited(audited: LiveSystem) -> None:
    name = f"p-{uuid4().hex[:8]}"
    ask_as_admin(audited, "POST", "/people", {"name": name, "password": PASSWORD, "role": "viewer"})
    for password in ("wrong password", PASSWORD):
        httpx.post(
            f"{audited.url}/api/v1/sign-in", json={"name": name, "password": password}, timeout=60
        )
    with httpx.Client(base_url=audited.url, timeout=60) as browser:
        browser.post("/sign-in", data={"name": name, "password": PASSWORD})
        browser.post("/sign-out")
    sign_in_events = [entry for entry in entries(audited, what="sign") if entry["who"] == name]
    assert [(entry["action"], entry["outcome"], entry["remote"]) for entry in sign_in_events] == [
        ("signs out", 200, "127.0.0.1"),
        ("signs in by password", 200, "127.0.0.1"),
        ("signs in by password", 200, "127.0.0.1"),
        ("signs in by password", 401, "127.0.0.1"),
    ]
    [creation] = entries(audited, what="POST /api/v1/people", limit=1)
    assert creation["facts"] | {"person": name, "role": "viewer"} == creation["facts"]


def test_audit_log_has_no_secrets(audited: LiveSystem) -> None:
    """Secrets are in requests and in answers."""
    secrets = [PASSWORD, "another horse battery", f"secret-{uuid4().hex}"]
    name = f"p-{uuid4().hex[:8]}"
    ask_as_admin(audited, "POST", "/people", {"name": name, "password": PASSWORD})
    ask_as_admin(audited, "PATCH", f"/people/{name}", {"password": secrets[1]})
    secrets.append(
        ask_as_admin(audited, "POST", "/tokens", {"label": "x", "person": name})["secret"]
    )
    secrets.append(ask_as_admin(audited, "POST", "/sites", {"name": name})["secret"])
    new_secret = {"name": name, "value": secrets[2], "templates": ["*"]}
    ask_as_admin(audited, "POST", "/secrets", new_secret)
    httpx.get(f"{audited.url}/", params={"token": token_for(audited.url)})
    secrets.append(token_for(audited.url) or "")
    rows = asyncio.run(_everything(audited))
    assert len(rows) > 10
    assert name in rows
    for secret in secrets:
        assert secret
        assert secret not in rows


async def _everything(system: LiveSystem) -> str:
    texts: list[str] = []
    for database in DATABASES:
        connection = await asyncpg.connect(system.database_url(database))
        texts += [str(tuple(row)) for row in await connection.fetch("SELECT * FROM audit")]
        await connection.close()
    return "\n".join(texts)


def test_only_administrators_can_read_the_audit_log(audited: LiveSystem) -> None:
    shift: Member = member(audited)
    for path in ("/audit", "/api/v1/audit", "/api/v1/audit/verdict", "/services/dms/api/v1/audit",
                 "/services/chains/api/v1/audit/verdict"):  # fmt: skip
        assert shift.ask("GET", path).status_code == 403
    admin = member(audited, role=Role.ADMIN)
    assert "Audit log" in admin.ask("GET", "/audit?check=yes").text


def test_pages_of_the_audit_log_have_each_event_once(audited: LiveSystem) -> None:
    anna = member(audited, role=Role.SUBMITTER)
    names = [f"d-{uuid4().hex[:8]}" for _ in range(7)]
    for number, name in enumerate(names):
        path = "/api/v1/datasets" if number % 2 else "/services/dms/api/v1/datasets"
        got(anna.ask("POST", path, json={"name": name}))
    names_found: list[str] = []
    after: str | None = None
    while True:
        page = got(
            httpx.get(
                f"{audited.url}/api/v1/audit",
                params={"who": anna.name, "limit": "2"} | ({"after": after} if after else {}),
                headers=bearer(token_for(audited.url) or ""),
                timeout=60,
            )
        )
        names_found += [entry["facts"]["name"] for entry in page["entries"]]
        after = page["after"]
        if after is None:
            break
    assert names_found == names[::-1]


def test_audit_commands_list_export_and_verify_events(audited: LiveSystem) -> None:
    anna = member(audited, role=Role.SUBMITTER)
    got(anna.ask("POST", "/api/v1/datasets", json={"name": f"d-{uuid4().hex[:8]}"}))
    environment = {"SLUICE_URL": audited.url, "SLUICE_TOKEN": token_for(audited.url) or ""}

    def run(*arguments: str) -> str:
        result = CliRunner().invoke(command_line("audit"), list(arguments), env=environment)
        assert result.exit_code == 0, result.output
        return result.output

    assert "POST /api/v1/datasets" in run("audit", "list", "--who", anna.name, "--days", "1")
    lines = run("audit", "export", "--who", anna.name).splitlines()
    assert [json.loads(line)["who"] for line in lines] == [anna.name]
    verify = run("audit", "verify")
    assert verify.count("unchanged since they were written") == len(DATABASES)


def test_verify_command_finds_a_row_that_was_changed_by_hand(audited: LiveSystem) -> None:
    anna = member(audited, role=Role.SUBMITTER)
    got(anna.ask("POST", "/api/v1/datasets", json={"name": f"d-{uuid4().hex[:8]}"}))
    wait_until(
        lambda: not _unchained(audited), what="all audit events in the hash chain", seconds=30
    )
    asyncio.run(_forge(audited, anna.name))
    environment = {"SLUICE_URL": audited.url, "SLUICE_TOKEN": token_for(audited.url) or ""}
    result = CliRunner().invoke(command_line("audit"), ["audit", "verify"], env=environment)
    assert result.exit_code == 1
    assert "is not what was chained" in result.output


def _unchained(system: LiveSystem) -> int:
    services = ask_as_admin(system, "GET", "/audit/verdict", {})["services"]
    return sum(service["unchained"] for service in services)


async def _forge(system: LiveSystem, name: str) -> None:
    connection = await asyncpg.connect(system.database_url("wfms_operator"))
    await connection.execute("SET session_replication_role = replica")
    await connection.execute("UPDATE audit SET who = 'somebody else' WHERE who = $1", name)
    await connection.close()
