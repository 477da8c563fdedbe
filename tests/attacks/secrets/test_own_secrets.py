"""Test that tokens, passwords and keys of the system are stored only in their own places, after a
run and after each was sent to routes that expect it and to routes that do not."""

import base64
import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from sluice.contracts.access.access import PILOT_PROOF_HEADER, PILOT_TOKEN_HEADER
from sluice.pilot_access.key import PilotKey
from tests.attacks.credentials import ask_as_admin, begin_session, create_token, make_bearer_header
from tests.e2e.commands import SHOUT, UPPER, run_sluice
from tests.e2e.systems import LiveSystem, run_live_system

pytestmark = pytest.mark.xdist_group("own-secrets")

PASSWORD = "a password that nobody else has"
WMS = "/services/wms/api/v1"
#: Files of a home folder that hold a credential.
CREDENTIAL_FILES = {"token", "pilot-token", "secret-key", "encryption-key"}


@pytest.fixture(scope="module")
def system() -> Iterator[LiveSystem]:
    """Start a system that logs in full detail."""
    with run_live_system("--log-level", "DEBUG", "--slots", "1") as system:
        yield system


def test_credentials_are_stored_only_in_their_own_files(system: LiveSystem, tmp_path: Path) -> None:
    _run_chain(system, tmp_path)
    secrets = _collect_secrets(system)
    assert len(set(secrets.values())) == len(secrets)
    for secret in secrets.values():
        _send_everywhere(system, secret)

    files_by_secret = _find_files_with_secrets(system.home, secrets)

    pilots = {
        file for file in files_by_secret["a pilot's key"] if re.fullmatch(r"pilots/.+/key", file)
    }
    assert pilots
    own = {name: {name} if name in CREDENTIAL_FILES else set() for name in secrets}
    assert files_by_secret == own | {"a pilot's key": pilots}
    assert [name for name, secret in secrets.items() if _is_in_command_line(secret)] == []


def _run_chain(system: LiveSystem, folder: Path) -> None:
    (folder / "w.cwl").write_text(
        SHOUT.format(command=UPPER, attempts=1, limit=60, glob="loud.txt")
    )
    (folder / "a.txt").write_text("here")
    options = ["--input", str(folder / "a.txt"), "--out", str(folder / "out")]
    run_sluice("run", str(folder / "w.cwl"), *options, "--url", system.url)
    assert (folder / "out").is_dir()


def _collect_secrets(system: LiveSystem) -> dict[str, str]:
    name = f"p-{uuid4().hex[:8]}"
    ask_as_admin(system, "POST", "/people", {"name": name, "role": "admin", "password": PASSWORD})
    who = {"name": name, "password": PASSWORD}
    [key] = {path.read_text() for path in system.home.glob("pilots/**/key")}
    return {
        **{name: (system.home / name).read_text().strip() for name in CREDENTIAL_FILES},
        "password": PASSWORD,
        "a person's token": create_token(system)[1],
        "a token of a password": ask_as_admin(system, "POST", "/sign-in", who)["secret"],
        "a session": begin_session(system)[1],
        "a site's token": ask_as_admin(system, "POST", "/sites", {"name": "there"})["secret"],
        "a pilot's token": _register_pilot(system),
        "a pilot's key": max(key.splitlines(), key=len),
    }


def _register_pilot(system: LiveSystem) -> str:
    node = {"cores": 1, "ram": 1000, "disk": 1000}
    registration = {"uid": str(uuid4()), "name": "p", "host": "h", "slots": 1, "version": "1"}
    enrolment = make_bearer_header((system.home / "pilot-token").read_text())
    proof = {PILOT_PROOF_HEADER: PilotKey.new().proof(time.time())}
    answer = httpx.post(
        f"{system.url}{WMS}/pilots",
        json=registration | {"resources": node},
        headers=enrolment | proof,
    )
    return answer.raise_for_status().headers[PILOT_TOKEN_HEADER]


def _send_everywhere(system: LiveSystem, secret: str) -> None:
    """Send the credential where it is valid and where it is a mistake."""
    with httpx.Client(base_url=system.url, timeout=30) as http:
        for path in ("/api/v1/chains", f"{WMS}/pilots"):
            for sent in (
                {"headers": make_bearer_header(secret)},
                {"headers": {"authorization": f"Basic {secret}"}},
                {"headers": {"cookie": f"sluice_person={secret}"}},
                {"params": {"token": secret}},
            ):
                http.get(path, **sent)  # type: ignore[arg-type] # of several kinds
            http.post(path, headers=make_bearer_header(secret), content=b"no json")
        for form in ({"token": secret}, {"name": "anna", "password": secret}):
            http.post("/sign-in", data=form)
        for path, body in _make_bodies(secret):
            http.post(path, json=body)


def _make_bodies(secret: str) -> Iterator[tuple[str, Any]]:
    yield "/api/v1/sign-in", {"name": "anna", "password": secret}
    yield "/api/v1/sign-in", {"name": "anna", "password": [secret]}
    yield "/api/v1/sign-in", {"password": secret}
    yield "/api/v1/token-holders", {"token": secret}
    yield "/api/v1/token-holders", {"token": {"x": secret}}


def _find_files_with_secrets(folder: Path, secrets: dict[str, str]) -> dict[str, set[str]]:
    """Return the files that have each credential in plain text or Base64."""
    files_by_secret: dict[str, set[str]] = {name: set() for name in secrets}
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            data = path.read_bytes() if path.is_file() else b""
            for name, secret in secrets.items():
                plain = secret.encode()
                if plain in data or base64.b64encode(plain).rstrip(b"=")[:-2] in data:
                    files_by_secret[name].add(str(path.relative_to(folder)))
    return files_by_secret


def _is_in_command_line(secret: str) -> bool:
    for process in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            if secret.encode() in Path(f"/proc/{process}/cmdline").read_bytes():
                return True
    return False
