"""Credentials of an embedded system: right ones, and what somebody has who has none."""

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol
from uuid import UUID, uuid4

import asyncpg
import httpx

from sluice.contracts.access import CallingService, Role
from sluice.credentials import headers_for, token_for
from sluice.servicekit.access.service_keys import ServiceKeys
from sluice.servicekit.access.service_tokens import ServiceSigner
from sluice.servicekit.access.tokens import PilotTokens
from sluice.setup.service_keys import make_keys
from tests.e2e.systems import LiveSystem


class Addressed(Protocol):
    """Any system, embedded or not."""

    @property
    def url(self) -> str: ...


def asked(system: Addressed, method: str, path: str, body: dict[str, Any]) -> Any:
    """As its user, who may do everything."""
    answer = httpx.request(
        method, f"{system.url}/api/v1{path}", json=body, headers=headers_for(system.url), timeout=60
    )
    return answer.raise_for_status().json()


def given(system: LiveSystem, role: Role = Role.ADMIN) -> tuple[str, str]:
    """A token of somebody with that role: its id, and what is sent."""
    name = f"p-{uuid4().hex[:8]}"
    asked(system, "POST", "/people", {"name": name, "role": role})
    given = asked(system, "POST", "/tokens", {"label": "x", "person": name})
    return given["token"]["id"], given["secret"]


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def _revoked(system: LiveSystem) -> dict[str, str]:
    token, secret = given(system)
    asked(system, "DELETE", f"/tokens/{token}", {})
    return bearer(secret)


def _ended(system: LiveSystem) -> dict[str, str]:
    token, secret = given(system)
    end = "UPDATE person_tokens SET expires_at = now() WHERE id = $1"
    asyncio.run(_execute(system, end, UUID(token)))
    return bearer(secret)


async def _execute(system: LiveSystem, statement: str, *values: Any) -> list[tuple[Any, ...]]:
    connection = await asyncpg.connect(system.database_url("wfms_operator"))
    try:
        return [tuple(row) for row in await connection.fetch(statement, *values)]
    finally:
        await connection.close()


def _of_somebody_disabled(system: LiveSystem) -> dict[str, str]:
    _, secret = given(system)
    name = asked(system, "GET", "/tokens?all=true", {})["tokens"][0]["person"]
    asked(system, "PATCH", f"/people/{name}", {"disabled": True})
    return bearer(secret)


def _digest(system: LiveSystem) -> dict[str, str]:
    """What who has read the database knows."""
    given(system)
    [(digest,), *_] = asyncio.run(_execute(system, "SELECT digest FROM person_tokens"))
    return bearer(f"sluice_{digest.hex()}")


def _of_another_system() -> str:
    with tempfile.TemporaryDirectory() as folder:
        keys = Path(folder) / "keys"
        make_keys(keys)
        signer = ServiceSigner(ServiceKeys(keys, CallingService.OPERATOR))
        return signer.token(CallingService.DMS)


def cookie(system: LiveSystem) -> tuple[str, str]:
    """Of a session that has begun: the cookie's name, and what is in it."""
    token = token_for(system.url) or ""
    signed_in = httpx.post(f"{system.url}/sign-in", data={"token": token})
    [(name, secret)] = signed_in.cookies.items()
    assert httpx.get(system.url, cookies={name: secret}).status_code == 200
    return name, secret


def _forged_session(system: LiveSystem) -> dict[str, str]:
    """By who knows how sessions are called."""
    name, secret = cookie(system)
    return {"cookie": f"{name}={secret[:-1]}{'A' if secret[-1] != 'A' else 'B'}"}


def _signed_out(system: LiveSystem) -> dict[str, str]:
    """A copy that somebody has made before."""
    name, secret = cookie(system)
    httpx.post(f"{system.url}/sign-out", cookies={name: secret})
    return {"cookie": f"{name}={secret}"}


def _fixed_session(system: LiveSystem) -> dict[str, str]:
    """Somebody has his victim sign in with a cookie that he has chosen."""
    name, _ = cookie(system)
    chosen = {"cookie": f"{name}=chosen"}
    token = token_for(system.url) or ""
    httpx.post(f"{system.url}/sign-in", data={"token": token}, headers=chosen)
    return chosen


CREDENTIALS: dict[str, Callable[[LiveSystem], dict[str, str]]] = {
    "none": lambda _: {},
    "a token of another system's service": lambda _: bearer(_of_another_system()),
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
    "a copy of a session that was signed out": _signed_out,
    "a session that somebody else has chosen": _fixed_session,
    "a token that was taken back": _revoked,
    "a token that has ended": _ended,
    "a token of somebody who is disabled": _of_somebody_disabled,
    "what the database knows of a token": _digest,
    "a claim to be the process itself": lambda _: {"sluice.principal": "this process"},
}
