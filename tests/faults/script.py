"""A script that brings work in with a token, which is revoked meanwhile."""

from collections.abc import AsyncIterator, Callable, Generator
from contextlib import asynccontextmanager, suppress
from uuid import UUID

import httpx

from sluice.clientkit.connection import client
from sluice.clients.base import API
from sluice.clients.operator import OperatorClient
from sluice.contracts.access.access import Role
from sluice.contracts.access.people import NewAccount, NewToken
from sluice.contracts.common.problems import Conflict, NotFound
from tests.faults.retries import (
    FREEZE_SECONDS,
    FaultTargetMissing,
    require_refusal,
    retry,
    wait_for,
)

#: The account of the script.
ROBOT = "robot"
#: Seconds after which every service knows that a token was revoked.
_CACHE_SECONDS = 10.0


class ScriptToken(httpx.Auth):
    """Authenticates with the present token; ``accepted`` and ``refused`` count its answers."""

    def __init__(self, secret: str) -> None:
        self.secret = secret
        self.accepted = 0
        self.refused = 0

    def change(self, secret: str) -> None:
        self.secret, self.accepted, self.refused = secret, 0, 0

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        used_secret = self.secret
        request.headers["Authorization"] = f"Bearer {used_secret}"
        response = yield request
        if used_secret == self.secret:
            self.accepted += response.is_success
            self.refused += response.status_code == httpx.codes.UNAUTHORIZED


class Script:
    """A script; ``places`` maps services to addresses."""

    def __init__(
        self, admin: OperatorClient, script_token: ScriptToken, places: dict[str, str]
    ) -> None:
        self._admin = admin
        self._places = places
        self._token: UUID | None = None
        self.script_token = script_token

    async def enter(self) -> None:
        """Create the account and a token."""
        account = NewAccount(name=ROBOT, role=Role.SUBMITTER)
        with suppress(Conflict):  # The answer of an earlier attempt was lost.
            await retry(lambda: self._admin.add_account(account))
        self._token, secret = await self._new_token()
        self.script_token.change(secret)

    async def replace_token(self, report_begin: Callable[[], None]) -> str:
        """Revoke the token while the script works, and give it a new one.

        Every service must refuse the old token and accept the new one.

        Raises ``SystemViolation`` or ``FaultTargetMissing``.
        """
        if not await wait_for(self._has_sent_request):
            raise FaultTargetMissing("the script sent no request")
        old, old_token = self.script_token.secret, self._token
        assert old_token is not None
        self._token, new = await self._new_token()
        report_begin()
        with suppress(NotFound):  # The answer of an earlier attempt was lost.
            await retry(lambda: self._admin.revoke_token(old_token))
        await self._is_refused("operator", f"{API}/me", old, within=FREEZE_SECONDS)
        await self._is_refused(
            "dms", f"{API}/storages", old, within=_CACHE_SECONDS + FREEZE_SECONDS
        )
        if not await wait_for(self._was_refused):
            raise FaultTargetMissing("the script sent no request with the revoked token")
        times = self.script_token.refused
        self.script_token.change(new)
        if not await wait_for(self._has_sent_request):
            raise FaultTargetMissing("the script sent no request with its new token")
        return f"the script's token revoked: it was refused {times} times, and went on with another"

    async def _new_token(self) -> tuple[UUID, str]:
        new = NewToken(label="script", person=ROBOT)
        token = await retry(lambda: self._admin.create_token(new))
        return token.token.id, token.secret.get_secret_value()

    async def _is_refused(self, service: str, path: str, secret: str, *, within: float) -> None:
        headers = {"Authorization": f"Bearer {secret}"}
        async with client(self._places[service], seconds=10, token="") as http:
            what = f"the {service} asked with a revoked token"
            await require_refusal(lambda: http.get(path, headers=headers), what, within=within)

    async def _has_sent_request(self) -> bool:
        return self.script_token.accepted > 0

    async def _was_refused(self) -> bool:
        return self.script_token.refused > 0


@asynccontextmanager
async def open_script(admin: OperatorClient, places: dict[str, str]) -> AsyncIterator[Script]:
    """Yield a script with an account and a token."""
    new_script = Script(admin, ScriptToken(""), places)
    await new_script.enter()
    yield new_script
