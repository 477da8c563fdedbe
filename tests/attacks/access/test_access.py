"""Tests that callers without a valid credential get nothing from an embedded system: by its port,
from its folder, or as a pilot. Without authentication each request succeeds."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from sluice.contracts.access.access import PILOT_PROOF_HEADER, PILOT_TOKEN_HEADER, Role
from sluice.contracts.common.states import AttemptOutcome
from sluice.network.credentials import token_for
from sluice.network.http_clients import trusted_authorities
from sluice.pilot_access.key import PilotKey
from tests.architecture.sources import ROOT
from tests.attacks.credentials import (
    CREDENTIALS,
    ask_as_admin,
    begin_session,
    create_token,
    make_bearer_header,
)
from tests.e2e.systems import LiveSystem, run_live_system
from tests.needs import ROOT_RIGHTS
from tests.unit.access.table import Row, read_rows

pytestmark = pytest.mark.xdist_group("attacks-access")

WORDCOUNT = ROOT / "docs/tutorial/wordcount/workflow.cwl"
NOBODY = 65_534
WMS, DMS = "/services/wms/api/v1", "/services/dms/api/v1"


@dataclass(frozen=True, slots=True)
class ForbiddenRequest:
    """A request that an attacker would like to make. ``body`` makes a new body for each request, as
    names are unique."""

    method: str
    path: str
    body: Callable[[], dict[str, Any]] | None = None


def _describe_template() -> dict[str, str]:
    return {"name": f"theirs-{uuid4().hex[:8]}", "cwl": WORDCOUNT.read_text()}


def _describe_dataset() -> dict[str, Any]:
    return {"name": f"theirs-{uuid4().hex[:8]}"}


def _describe_pilot(uid: UUID | None = None) -> dict[str, Any]:
    node = {"cores": 1, "ram": 1000, "disk": 1000}
    registration = {
        "name": "theirs",
        "host": "theirs",
        "slots": 1,
        "version": "1",
        "resources": node,
    }
    return {"uid": str(uid or uuid4()), **registration}


REQUESTS = {
    "see the overview": ForbiddenRequest("GET", "/"),
    "see the templates": ForbiddenRequest("GET", "/templates"),
    "list chains": ForbiddenRequest("GET", "/api/v1/chains"),
    "list secrets": ForbiddenRequest("GET", "/api/v1/secrets"),
    "publish a template": ForbiddenRequest("POST", "/api/v1/templates", _describe_template),
    "store a tool to run": ForbiddenRequest("POST", "/api/v1/run-templates", _describe_template),
    "keep a secret": ForbiddenRequest(
        "POST",
        "/api/v1/secrets",
        lambda: {"name": f"s-{uuid4().hex[:8]}", "value": "x" * 20, "templates": ["*"]},
    ),
    "limit all others": ForbiddenRequest(
        "PUT", "/api/v1/limits", lambda: {"name": "licence", "amount": 1}
    ),
    "disable a step": ForbiddenRequest(
        "PUT", "/api/v1/steps/words/priority", lambda: {"priority": -1}
    ),
    "read metrics": ForbiddenRequest("GET", "/metrics"),
    "read the catalogue": ForbiddenRequest("GET", f"{DMS}/datasets"),
    "fill the catalogue": ForbiddenRequest("POST", f"{DMS}/datasets", _describe_dataset),
    "read the WMS's metrics": ForbiddenRequest("GET", "/services/wms/metrics"),
    "list tasks of the WMS": ForbiddenRequest("GET", f"{WMS}/tasks"),
    "become a pilot": ForbiddenRequest("POST", f"{WMS}/pilots", _describe_pilot),
}
#: Requests that the token of pilots allows.
PILOT_REQUESTS = {"become a pilot"}


@pytest.fixture(scope="module")
def guarded_system() -> Iterator[LiveSystem]:
    with run_live_system("--pilots", "0") as system:
        yield system


@pytest.fixture(scope="module")
def open_system() -> Iterator[LiveSystem]:
    with run_live_system("--pilots", "0", "--no-auth") as system:
        yield system


def _send_request(url: str, request: ForbiddenRequest, **headers: str) -> httpx.Response:
    body = None if request.body is None else request.body()
    authorization = {PILOT_PROOF_HEADER: PilotKey.new().proof(time.time())} | headers
    return httpx.request(
        request.method,
        f"{url}{request.path}",
        json=body,
        headers=authorization,
        timeout=30,
        verify=trusted_authorities(url),
    )


@pytest.mark.parametrize("name", REQUESTS)
def test_without_authentication_each_request_succeeds(open_system: LiveSystem, name: str) -> None:
    answer = _send_request(open_system.url, REQUESTS[name])
    assert answer.is_success, answer.text


@pytest.mark.parametrize("name", REQUESTS)
def test_request_without_a_credential_is_refused(guarded_system: LiveSystem, name: str) -> None:
    answer = _send_request(guarded_system.url, REQUESTS[name])
    assert (answer.status_code, answer.headers.get("set-cookie")) == (401, None)


@pytest.mark.parametrize("name", REQUESTS)
def test_user_of_the_system_can_make_each_request(guarded_system: LiveSystem, name: str) -> None:
    """Requests of pilots are the exception."""
    answer = _send_request(
        guarded_system.url, REQUESTS[name], authorization=f"Bearer {token_for(guarded_system.url)}"
    )
    assert answer.is_success if name not in PILOT_REQUESTS else answer.status_code == 403, (
        answer.text
    )


@pytest.mark.parametrize("name", REQUESTS)
def test_pilot_token_allows_only_requests_of_pilots(guarded_system: LiveSystem, name: str) -> None:
    token = (guarded_system.home / "pilot-token").read_text()
    answer = _send_request(guarded_system.url, REQUESTS[name], authorization=f"Bearer {token}")
    assert answer.is_success if name in PILOT_REQUESTS else answer.status_code == 403


@pytest.mark.parametrize("credential", CREDENTIALS)
def test_invalid_credential_is_refused_at_each_route(
    guarded_system: LiveSystem, credential: str
) -> None:
    authorization = CREDENTIALS[credential](guarded_system)
    with httpx.Client(base_url=guarded_system.url, headers=authorization, timeout=30) as http:
        answered = {
            (row.service, row.address): http.request(
                row.method, _read_role_name(row) + row.path
            ).status_code
            for row in read_rows()
            if not row.lets("nobody")
        }
    assert len(answered) > 200
    assert {row: status for row, status in answered.items() if status != 401} == {}


def _read_role_name(row: Row) -> str:
    name = row.service.removeprefix("wfms.")
    return "" if name == "operator" else f"/services/{name}"


def test_personal_token_allows_exactly_the_requests_of_its_role(guarded_system: LiveSystem) -> None:
    _, viewer = create_token(guarded_system, Role.VIEWER)
    opened = {
        name
        for name, request in REQUESTS.items()
        if _send_request(guarded_system.url, request, **make_bearer_header(viewer)).is_success
    }
    assert opened == {
        "see the overview",
        "see the templates",
        "list chains",
        "list secrets",
        "read metrics",
        "read the catalogue",
        "read the WMS's metrics",
        "list tasks of the WMS",
    }


def test_viewer_cannot_gain_another_role(guarded_system: LiveSystem) -> None:
    """The viewer tries to make an account, to make tokens and to change the own account."""
    _, viewer = create_token(guarded_system, Role.VIEWER)
    me = httpx.get(f"{guarded_system.url}/api/v1/me", headers=make_bearer_header(viewer)).json()
    for method, path, body in (
        ("POST", "/people", {"name": "mine", "role": "admin"}),
        ("PATCH", f"/people/{me['name']}", {"role": "admin"}),
        ("POST", "/tokens", {"label": "x", "role": "admin"}),
        ("POST", "/tokens", {"label": "x", "person": "administrator"}),
        ("POST", "/token-holders", {"token": viewer}),
    ):
        answer = httpx.request(
            method,
            f"{guarded_system.url}/api/v1{path}",
            json=body,
            headers=make_bearer_header(viewer),
        )
        assert answer.status_code == 403, (path, answer.text)
    page = httpx.get(f"{guarded_system.url}/people", headers=make_bearer_header(viewer))
    assert page.status_code == 403


def test_password_guesses_are_limited_and_do_not_reveal_account_names(
    guarded_system: LiveSystem,
) -> None:
    name = f"p-{uuid4().hex[:8]}"
    ask_as_admin(
        guarded_system, "POST", "/people", {"name": name, "password": "correct horse battery"}
    )
    for victim in (name, f"nobody-{uuid4().hex[:8]}"):
        answers = [
            httpx.post(
                f"{guarded_system.url}/api/v1/sign-in",
                json={"name": victim, "password": f"guess number {number}"},
                timeout=60,
            )
            for number in range(12)
        ]
        assert [answer.status_code for answer in answers] == [401] * 10 + [429] * 2
        assert len({answer.json()["detail"] for answer in answers[:10]}) == 1
    page = httpx.post(f"{guarded_system.url}/sign-in", data={"name": name, "password": "x"})
    assert page.headers["location"].endswith("signed-in=later")


def _register_pilot(system: LiveSystem, uid: UUID) -> str:
    """Register a pilot and return its own token."""
    answer = _request_registration(system, uid, PilotKey.new().proof(time.time()))
    return answer.raise_for_status().headers[PILOT_TOKEN_HEADER]


def _request_registration(system: LiveSystem, uid: UUID, proof: str) -> httpx.Response:
    """Try to register a pilot. ``proof`` is the proof of its key; an empty proof is not sent."""
    authorization = {PILOT_PROOF_HEADER: proof} if proof else {}
    enrolment = make_bearer_header((system.home / "pilot-token").read_text())
    return httpx.post(
        f"{system.url}{WMS}/pilots", json=_describe_pilot(uid), headers=enrolment | authorization
    )


def test_pilot_with_a_known_key_cannot_be_registered_by_another_caller(
    guarded_system: LiveSystem,
) -> None:
    """An old proof is not valid either."""
    own_pilot, key = uuid4(), PilotKey.new()
    now = time.time()
    assert _request_registration(guarded_system, own_pilot, key.proof(now)).status_code == 200

    refused = _request_registration(guarded_system, own_pilot, PilotKey.new().proof(now))
    assert (refused.status_code, PILOT_TOKEN_HEADER in refused.headers) == (403, False)
    assert "the request was not signed with this key" in refused.text
    for proof in ("", key.proof(now - 3600), key.proof(now)[:-4], "none"):
        assert _request_registration(guarded_system, own_pilot, proof).status_code == 401
    assert _request_registration(guarded_system, own_pilot, key.proof(now)).status_code == 200


_REPORT = {
    "id": 1,
    "attempt": 1,
    "outcome": AttemptOutcome.FINISHED,
    "ended_at": "2026-03-01T12:00:00Z",
}
PILOT_ACTIONS: dict[str, tuple[str, str, dict[str, Any] | None]] = {
    "lease": ("POST", "lease", {"jobs": 1, "wait": 0}),
    "heartbeat": ("POST", "heartbeat", {}),
    "report": ("POST", "report", {"reports": [_REPORT]}),
    "storages": ("GET", "storages", None),
    "sign-off": ("POST", "sign-off", {"returned": []}),
}


@pytest.mark.parametrize("action", PILOT_ACTIONS)
def test_pilot_can_make_requests_only_for_itself(guarded_system: LiveSystem, action: str) -> None:
    own_pilot, other = uuid4(), uuid4()
    token = _register_pilot(guarded_system, own_pilot)
    _register_pilot(guarded_system, other)
    method, path, body = PILOT_ACTIONS[action]

    def ask(pilot: UUID, credential: str) -> int:
        return httpx.request(
            method,
            f"{guarded_system.url}{WMS}/pilots/{pilot}/{path}",
            json=body,
            headers={"authorization": f"Bearer {credential}"},
        ).status_code

    assert ask(own_pilot, token) in {200, 204}
    assert ask(other, token) == 403
    assert ask(own_pilot, (guarded_system.home / "pilot-token").read_text()) == 403, (
        "the token of pilots is for registrations only"
    )
    assert ask(own_pilot, token_for(guarded_system.url) or "") == 403, "a person is no pilot"


#: The attempts of another user: each readable file is sent as a token.
_OTHER_USER = """
import json, os, sys, urllib.request, urllib.error
url, *folders = sys.argv[1:]
found, opened = [], []
for folder in folders:
    for place, _, names in os.walk(folder):
        for name in [*names, "token", "pilot-token", "secret-key", "encryption-key"]:
            try:
                with open(os.path.join(place, name), "rb") as file:
                    text = file.read(200)
            except OSError:
                continue
            found.append(os.path.join(place, name))
            token = text.decode("latin-1").strip().replace("\\n", "") or "nothing"
            headers = {"Authorization": "Bearer " + token}
            ask = urllib.request.Request(url + "/api/v1/chains", headers=headers)
            try:
                opened.append(urllib.request.urlopen(ask).status)
            except (urllib.error.URLError, ValueError):
                pass
print(json.dumps({"found": found, "opened": opened}))
"""


@pytest.mark.needs(ROOT_RIGHTS)
def test_another_user_of_the_machine_finds_no_credentials(
    guarded_system: LiveSystem, tmp_path: Path
) -> None:
    settings_folder = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "sluice"
    (guarded_system.home / "storages/output/result.txt").write_text("ours")
    places = [
        str(guarded_system.home),
        str(guarded_system.home / "storages/output"),
        str(settings_folder),
    ]
    output = subprocess.run(
        # The link of the virtual environment may lie in a folder of the current user.
        [os.path.realpath(sys.executable), "-I", "-c", _OTHER_USER, guarded_system.url, *places],
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
    ).stdout

    findings = json.loads(output)
    assert findings["opened"] == []
    assert [file for file in findings["found"] if not file.endswith("/lock")] == []


def test_credentials_are_in_no_log_table_or_address(guarded_system: LiveSystem) -> None:
    token = token_for(guarded_system.url)
    assert token
    answer = httpx.get(f"{guarded_system.url}/?token={token}")
    assert answer.status_code == 303
    assert token not in answer.headers["location"]
    password = f"a long password {uuid4().hex}"
    name = f"p-{uuid4().hex[:8]}"
    ask_as_admin(guarded_system, "POST", "/people", {"name": name, "password": password})
    who = {"name": name, "password": password}
    personal = httpx.post(f"{guarded_system.url}/api/v1/sign-in", json=who).json()["secret"]
    response = httpx.post(f"{guarded_system.url}/sign-in", data=who | {"password": f"{password}!"})
    assert response.headers["location"] == "/?signed-in=no"
    session = begin_session(guarded_system)[1]

    secrets = [token, password, personal, session]
    for log in (guarded_system.home / "logs").iterdir():
        assert [secret for secret in secrets if secret in log.read_text()] == []
    for database in (guarded_system.home / "database").rglob("*"):
        if database.is_file():
            data = database.read_bytes()
            assert [secret for secret in secrets if secret.encode() in data] == []
