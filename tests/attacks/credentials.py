"""Provide valid and invalid credentials for an embedded system."""

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol
from uuid import UUID, uuid4

import asyncpg
import httpx

from sluice.contracts.access.access import Role
from sluice.contracts.access.services import CallingService
from sluice.network.credentials import headers_for, token_for
from sluice.network.http_clients import trusted_authorities
from sluice.servicekit.access.service_keys import ServiceKeys
from sluice.servicekit.access.service_tokens import ServiceSigner
from sluice.servicekit.access.tokens import PilotTokens
from sluice.setup.service_keys import make_keys
from tests.e2e.systems import LiveSystem


class SystemWithUrl(Protocol):
    """A system with an address, embedded or not."""

    @property
    def url(self) -> str: ...


def ask_as_admin(system: SystemWithUrl, method: str, path: str, body: dict[str, Any]) -> Any:
    """Send a request as the administrator of the system and return the answer."""
    answer = httpx.request(
        method,
        f"{system.url}/api/v1{path}",
        json=body,
        headers=headers_for(system.url),
        timeout=60,
        verify=trusted_authorities(system.url),
    )
    return answer.raise_for_status().json()


def create_token(system: LiveSystem, role: Role = Role.ADMIN) -> tuple[str, str]:
    """Return the identifier and the secret of a token of a new person with this role."""
    name = f"p-{uuid4().hex[:8]}"
    ask_as_admin(system, "POST", "/people", {"name": name, "role": role})
    answer = ask_as_admin(system, "POST", "/tokens", {"label": "x", "person": name})
    return answer["token"]["id"], answer["secret"]


def make_bearer_header(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def _create_revoked_token(system: LiveSystem) -> dict[str, str]:
    token, secret = create_token(system)
    ask_as_admin(system, "DELETE", f"/tokens/{token}", {})
    return make_bearer_header(secret)


def _create_expired_token(system: LiveSystem) -> dict[str, str]:
    token, secret = create_token(system)
    end = "UPDATE person_tokens SET expires_at = now() WHERE id = $1"
    asyncio.run(_execute(system, end, UUID(token)))
    return make_bearer_header(secret)


async def _execute(system: LiveSystem, statement: str, *values: Any) -> list[tuple[Any, ...]]:
    connection = await asyncpg.connect(system.database_url("wfms_operator"))
    try:
        return [tuple(row) for row in await connection.fetch(statement, *values)]
    finally:
        await connection.close()


def _create_token_of_disabled_person(system: LiveSystem) -> dict[str, str]:
    _, secret = create_token(system)
    name = ask_as_admin(system, "GET", "/tokens?all=true", {})["tokens"][0]["person"]
    ask_as_admin(system, "PATCH", f"/people/{name}", {"disabled": True})
    return make_bearer_header(secret)


def _read_token_digest(system: LiveSystem) -> dict[str, str]:
    """Return the digest of a token, which the database has."""
    create_token(system)
    [(digest,), *_] = asyncio.run(_execute(system, "SELECT digest FROM person_tokens"))
    return make_bearer_header(f"sluice_{digest.hex()}")


def _create_token_of_another_system() -> str:
    with tempfile.TemporaryDirectory() as folder:
        keys = Path(folder) / "keys"
        make_keys(keys)
        signer = ServiceSigner(ServiceKeys(keys, CallingService.OPERATOR))
        return signer.token(CallingService.DMS)


def begin_session(system: LiveSystem) -> tuple[str, str]:
    """Begin a session and return the name and the value of its cookie."""
    token = token_for(system.url) or ""
    signed_in = httpx.post(f"{system.url}/sign-in", data={"token": token})
    [(name, secret)] = signed_in.cookies.items()
    assert httpx.get(system.url, cookies={name: secret}).status_code == 200
    return name, secret


def _guess_session(system: LiveSystem) -> dict[str, str]:
    """Return a cookie with a guessed session."""
    name, secret = begin_session(system)
    return {"cookie": f"{name}={secret[:-1]}{'A' if secret[-1] != 'A' else 'B'}"}


def _copy_signed_out_session(system: LiveSystem) -> dict[str, str]:
    """Return a copy of a cookie whose session was signed out."""
    name, secret = begin_session(system)
    httpx.post(f"{system.url}/sign-out", cookies={name: secret})
    return {"cookie": f"{name}={secret}"}


def _plant_session(system: LiveSystem) -> dict[str, str]:
    """Return a cookie that an attacker has set before the victim signs in."""
    name, _ = begin_session(system)
    chosen = {"cookie": f"{name}=chosen"}
    token = token_for(system.url) or ""
    httpx.post(f"{system.url}/sign-in", data={"token": token}, headers=chosen)
    return chosen


CREDENTIALS: dict[str, Callable[[LiveSystem], dict[str, str]]] = {
    "none": lambda _: {},
    "a token of another system's service": lambda _: make_bearer_header(
        _create_token_of_another_system()
    ),
    "a made up token": lambda _: {"authorization": "Bearer 0123456789abcdef"},
    "the token's beginning": lambda system: {
        "authorization": f"Bearer {(system.home / 'token').read_text()[:-1]}"
    },
    "the token as a password": lambda system: {
        "authorization": f"Basic {(system.home / 'token').read_text()}"
    },
    "a pilot's token of another key": lambda _: {
        "authorization": f"Bearer {PilotTokens(['a guess']).issue(uuid4())}"
    },
    "the key of the sessions": lambda system: {
        "authorization": f"Bearer {(system.home / 'secret-key').read_text()}"
    },
    "a forged session": _guess_session,
    "a copy of a session that was signed out": _copy_signed_out_session,
    "a session that somebody else has chosen": _plant_session,
    "a token that was taken back": _create_revoked_token,
    "a token that has ended": _create_expired_token,
    "a token of somebody who is disabled": _create_token_of_disabled_person,
    "what the database knows of a token": _read_token_digest,
    "a claim to be the process itself": lambda _: {"sluice.principal": "this process"},
}
