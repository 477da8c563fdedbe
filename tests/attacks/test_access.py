"""Whoever has no credential, or another's, gets nothing of an embedded system: over its port, from
its folder, as a pilot. Each request is seen to be answered where nobody has to say who he is."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from sluice.contracts.access import PILOT_TOKEN_HEADER, Role
from sluice.contracts.states import AttemptOutcome
from sluice.credentials import token_for
from sluice.servicekit.access.principal import Person
from sluice.servicekit.access.sessions import Sessions
from sluice.servicekit.access.tokens import PilotTokens
from tests.architecture.sources import ROOT
from tests.e2e.systems import LiveSystem, live_system

pytestmark = pytest.mark.xdist_group("attacks-access")

WORDCOUNT = ROOT / "docs/tutorial/wordcount/workflow.cwl"
NOBODY = 65_534
WMS, DMS = "/services/wms/api/v1", "/services/dms/api/v1"


@dataclass(frozen=True, slots=True)
class Wish:
    """What somebody would like to have done. ``body``: made anew for each try, since names are
    unique."""

    method: str
    path: str
    body: Callable[[], dict[str, Any]] | None = None


def _template() -> dict[str, str]:
    return {"name": f"theirs-{uuid4().hex[:8]}", "cwl": WORDCOUNT.read_text()}


def _dataset() -> dict[str, Any]:
    return {"name": f"theirs-{uuid4().hex[:8]}"}


def _pilot(uid: UUID | None = None) -> dict[str, Any]:
    node = {"cores": 1, "ram": 1000, "disk": 1000}
    told = {"name": "theirs", "host": "theirs", "slots": 1, "version": "1", "resources": node}
    return {"uid": str(uid or uuid4()), **told}


WISHES = {
    "see the overview": Wish("GET", "/"),
    "see the templates": Wish("GET", "/templates"),
    "list chains": Wish("GET", "/api/v1/chains"),
    "list secrets": Wish("GET", "/api/v1/secrets"),
    "publish a template": Wish("POST", "/api/v1/templates", _template),
    "store a tool to run": Wish("POST", "/api/v1/run-templates", _template),
    "keep a secret": Wish(
        "POST",
        "/api/v1/secrets",
        lambda: {"name": f"s-{uuid4().hex[:8]}", "value": "x" * 20, "templates": ["*"]},
    ),
    "limit all others": Wish("PUT", "/api/v1/limits", lambda: {"name": "licence", "amount": 1}),
    "switch a step off": Wish("PUT", "/api/v1/steps/words/priority", lambda: {"priority": -1}),
    "read metrics": Wish("GET", "/metrics"),
    "read the catalogue": Wish("GET", f"{DMS}/datasets"),
    "fill the catalogue": Wish("POST", f"{DMS}/datasets", _dataset),
    "read the WMS's metrics": Wish("GET", "/services/wms/metrics"),
    "list tasks of the WMS": Wish("GET", f"{WMS}/tasks"),
    "become a pilot": Wish("POST", f"{WMS}/pilots", _pilot),
}
#: What a credential of pilots may do.
OF_PILOTS = {"become a pilot"}


@pytest.fixture(scope="module")
def guarded() -> Iterator[LiveSystem]:
    with live_system("--pilots", "0") as system:
        yield system


@pytest.fixture(scope="module")
def unguarded() -> Iterator[LiveSystem]:
    with live_system("--pilots", "0", "--no-auth") as system:
        yield system


def _ask(url: str, wish: Wish, **headers: str) -> httpx.Response:
    body = None if wish.body is None else wish.body()
    return httpx.request(wish.method, f"{url}{wish.path}", json=body, headers=headers, timeout=30)


@pytest.mark.parametrize("name", WISHES)
def test_where_nobody_says_who_he_is_anybody_gets_it(unguarded: LiveSystem, name: str) -> None:
    answer = _ask(unguarded.url, WISHES[name])
    assert answer.is_success, answer.text


@pytest.mark.parametrize("name", WISHES)
def test_without_a_credential_nobody_gets_it(guarded: LiveSystem, name: str) -> None:
    answer = _ask(guarded.url, WISHES[name])
    assert (answer.status_code, answer.headers.get("set-cookie")) == (401, None)


@pytest.mark.parametrize("name", WISHES)
def test_its_user_gets_it(guarded: LiveSystem, name: str) -> None:
    """But for what pilots do."""
    answer = _ask(guarded.url, WISHES[name], authorization=f"Bearer {token_for(guarded.url)}")
    assert answer.is_success if name not in OF_PILOTS else answer.status_code == 403, answer.text


@pytest.mark.parametrize("name", WISHES)
def test_a_token_of_pilots_opens_nothing_else(guarded: LiveSystem, name: str) -> None:
    token = (guarded.home / "pilot-token").read_text()
    answer = _ask(guarded.url, WISHES[name], authorization=f"Bearer {token}")
    assert answer.is_success if name in OF_PILOTS else answer.status_code == 403


def _forged_session(system: LiveSystem) -> dict[str, str]:
    """By who knows how sessions are made, and their name, and not the key."""
    name = Sessions((system.home / "secret-key").read_text()).end(secure=False).partition("=")[0]
    cookie = Sessions("a guess").begin(Person("root", Role.ADMIN), secure=False)
    return {"cookie": f"{name}={cookie.partition('=')[2].partition(';')[0]}"}


CREDENTIALS: dict[str, Callable[[LiveSystem], dict[str, str]]] = {
    "a made up token": lambda _: {"authorization": "Bearer 0123456789abcdef"},
    "the token's beginning": lambda system: {
        "authorization": f"Bearer {(system.home / 'token').read_text()[:-1]}"
    },
    "the token as a password": lambda system: {
        "authorization": f"Basic {(system.home / 'token').read_text()}"
    },
    "a pilot's token of another key": lambda _: {
        "authorization": f"Bearer {PilotTokens(['a guess']).give(uuid4())}"
    },
    "the key of the sessions": lambda system: {
        "authorization": f"Bearer {(system.home / 'secret-key').read_text()}"
    },
    "a forged session": _forged_session,
    "a claim to be the process itself": lambda _: {"sluice.principal": "this process"},
}


@pytest.mark.parametrize("credential", CREDENTIALS)
@pytest.mark.parametrize("name", ["see the overview", "list chains", "read the catalogue"])
def test_a_wrong_credential_opens_nothing(guarded: LiveSystem, name: str, credential: str) -> None:
    answer = _ask(guarded.url, WISHES[name], **CREDENTIALS[credential](guarded))
    assert answer.status_code == 401


def _register(system: LiveSystem, uid: UUID) -> str:
    """The pilot's own token."""
    enrolment = {"authorization": f"Bearer {(system.home / 'pilot-token').read_text()}"}
    answer = httpx.post(f"{system.url}{WMS}/pilots", json=_pilot(uid), headers=enrolment)
    return answer.raise_for_status().headers[PILOT_TOKEN_HEADER]


_REPORT = {
    "id": 1,
    "attempt": 1,
    "outcome": AttemptOutcome.FINISHED,
    "ended_at": "2026-03-01T12:00:00Z",
}
ACTS: dict[str, tuple[str, str, dict[str, Any] | None]] = {
    "lease": ("POST", "lease", {"jobs": 1, "wait": 0}),
    "heartbeat": ("POST", "heartbeat", {}),
    "report": ("POST", "report", {"reports": [_REPORT]}),
    "storages": ("GET", "storages", None),
    "sign-off": ("POST", "sign-off", {"returned": []}),
}


@pytest.mark.parametrize("act", ACTS)
def test_a_pilot_acts_as_itself_alone(guarded: LiveSystem, act: str) -> None:
    mine, other = uuid4(), uuid4()
    token = _register(guarded, mine)
    _register(guarded, other)
    method, path, body = ACTS[act]

    def ask(pilot: UUID, credential: str) -> int:
        return httpx.request(
            method,
            f"{guarded.url}{WMS}/pilots/{pilot}/{path}",
            json=body,
            headers={"authorization": f"Bearer {credential}"},
        ).status_code

    assert ask(mine, token) in {200, 204}
    assert ask(other, token) == 403
    assert ask(mine, (guarded.home / "pilot-token").read_text()) == 403, "it registers, no more"
    assert ask(mine, token_for(guarded.url) or "") == 403, "a person is no pilot"


#: What another user tries: every file that he can read is shown as a token.
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


@pytest.mark.skipif(os.geteuid() != 0, reason="root alone can be another user")
def test_another_user_of_the_machine_gets_nothing(guarded: LiveSystem, tmp_path: Path) -> None:
    kept = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "sluice"
    (guarded.home / "storages/output/result.txt").write_text("ours")
    places = [str(guarded.home), str(guarded.home / "storages/output"), str(kept)]
    said = subprocess.run(
        # Not by the environment's link: that may lie where this user alone gets.
        [os.path.realpath(sys.executable), "-I", "-c", _OTHER_USER, guarded.url, *places],
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
    ).stdout

    got = json.loads(said)
    assert got["opened"] == []
    assert [file for file in got["found"] if not file.endswith("/lock")] == []


def test_nothing_of_the_token_is_in_a_log_or_an_address(guarded: LiveSystem) -> None:
    token = token_for(guarded.url)
    assert token
    answer = httpx.get(f"{guarded.url}/?token={token}")
    assert answer.status_code == 303
    assert token not in answer.headers["location"]

    for log in (guarded.home / "logs").iterdir():
        assert token not in log.read_text()
    for database in (guarded.home / "database").rglob("*"):
        if database.is_file():
            assert token.encode() not in database.read_bytes()
