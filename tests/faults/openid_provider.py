"""An OpenID provider in its own process, and people who sign in with it."""

import asyncio
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial

import httpx

from sluice.clients.base import API
from sluice.servicekit.access.provider_sign_in import PROVIDER_PATH
from stack.ports import free_ports
from tests.faults.retries import (
    POLL_SECONDS,
    RETRY_SECONDS,
    FaultTargetMissing,
    SystemViolation,
    wait_for,
    wait_for_answer,
)
from tests.faults.script import ScriptToken

PERSON, GROUP, ROLE = "anna", "crew", "viewer"
#: The message for a sign-in while the provider is down.
PROVIDER_ERROR = "the OpenID provider does not answer as it should"
#: Seconds for an answer: the operator service waits for the provider for 15 s.
_REQUEST_TIMEOUT = 30.0


class OpenIdProvider:
    """The provider; ``url`` is its issuer."""

    def __init__(self) -> None:
        [self._port] = free_ports(1)
        self.url = f"http://localhost:{self._port}"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment of the operator service."""
        return {
            "SLUICE_OPERATOR_OIDC__ISSUER": self.url,
            "SLUICE_OPERATOR_OIDC__CLIENT_SECRET": "confidential",
            "SLUICE_OPERATOR_OIDC__ROLES": f'{{"{GROUP}": "{ROLE}"}}',
        }

    async def start(self) -> None:
        """Start the provider and register the people; raise ``FaultTargetMissing`` on failure."""
        self._process = await asyncio.to_thread(self._start_process)
        if not await wait_for(self._register_person):
            raise FaultTargetMissing("the OpenID provider did not start")

    def _start_process(self) -> subprocess.Popen[bytes]:
        command = ("-W", "ignore", "-m", "oidc_provider_mock", "--port", str(self._port))
        return subprocess.Popen(
            [sys.executable, *command, "--require-nonce", "true"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def set_suspended(self, is_suspended: bool) -> None:
        """Suspend or continue the provider. It accepts connections while it is suspended."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP if is_suspended else signal.SIGCONT)

    async def authenticate(self, address: str) -> str:
        """Sign in at the provider, and return the address to which the provider redirects.

        Raises ``httpx.TransportError``.
        """
        async with httpx.AsyncClient(timeout=_REQUEST_TIMEOUT) as http:
            done = await http.post(address, data={"sub": PERSON})
            if not done.is_redirect:
                raise httpx.RemoteProtocolError(
                    f"the provider refuses the sign-in: {done.status_code}"
                )
            return str(done.headers["location"])

    async def _register_person(self) -> bool:
        claims = {"preferred_username": PERSON, "groups": [GROUP]}
        async with httpx.AsyncClient() as http:
            try:
                return (await http.put(f"{self.url}/users/{PERSON}", json=claims)).is_success
            except httpx.TransportError:
                return False


class BrowserUsers:
    """People in browsers; ``url`` is the address of the operator service."""

    def __init__(self, url: str, provider: OpenIdProvider, script_token: ScriptToken) -> None:
        self._url = url
        self._provider = provider
        self._script_token = script_token
        self._session = self._open_browser()

    async def enter(self) -> None:
        """Sign one person in, who stays."""
        await self._sign_in(self._session)

    async def close(self) -> None:
        await self._session.aclose()

    async def check_provider_outage(
        self, seconds: float, report_begin: Callable[[], None], *, is_suspended: bool
    ) -> str:
        """Take the provider down, and check sign-ins, an open session and a token.

        New sign-ins, and those that the provider has redirected, get an error. The open session
        continues, and later a sign-in succeeds.

        Raises ``SystemViolation`` or ``FaultTargetMissing``.
        """
        async with self._open_browser() as new, self._open_browser() as signing_in:
            back = await self._provider.authenticate(await self._start_sign_in(signing_in))
            report_begin()
            began = time.monotonic()
            await self._stop_provider(is_suspended)
            try:
                await asyncio.gather(
                    self._require_error(new, PROVIDER_PATH),
                    self._require_error(signing_in, back),
                    self._require_access(),
                )
                # The session has to continue during the whole outage.
                while time.monotonic() < began + seconds:
                    await self._require_access()
                    await asyncio.sleep(POLL_SECONDS)
            finally:
                duration = time.monotonic() - began
                await self._restart_provider(is_suspended)
            await self._sign_in(new)
        way = "hung" if is_suspended else "was down"
        return (
            f"the OpenID provider {way} for {duration:.1f} s; {PERSON} got an error,"
            " and the open session continued"
        )

    async def _stop_provider(self, is_suspended: bool) -> None:
        if is_suspended:
            self._provider.set_suspended(True)
        else:
            await asyncio.to_thread(self._provider.stop)

    async def _restart_provider(self, is_suspended: bool) -> None:
        if is_suspended:
            self._provider.set_suspended(False)
        else:
            await self._provider.start()

    async def _require_error(self, browser: httpx.AsyncClient, address: str) -> None:
        await wait_for_answer(
            lambda: browser.get(address),
            lambda response: (
                response.status_code == httpx.codes.SERVICE_UNAVAILABLE
                and PROVIDER_ERROR in response.text
            ),
            "somebody signs in by a provider that is down",
        )

    async def _require_access(self) -> None:
        """Require answers for an open session and for a token."""
        await wait_for_answer(
            partial(self._session.get, f"{API}/me"),
            lambda response: response.is_success and response.json()["name"] == PERSON,
            "an open session while the provider is down",
        )
        headers = {"Authorization": f"Bearer {self._script_token.secret}"}
        async with self._open_browser() as http:
            await wait_for_answer(
                lambda: http.get(f"{API}/me", headers=headers),
                # Another fault may just have revoked the token.
                lambda response: (
                    response.is_success or response.status_code == httpx.codes.UNAUTHORIZED
                ),
                "a token while the provider is down",
            )

    async def _sign_in(self, browser: httpx.AsyncClient) -> None:
        """Sign in, and repeat it if other faults prevent it."""

        async def has_signed_in() -> bool:
            try:
                back = await self._provider.authenticate(await self._start_sign_in(browser))
                await wait_for_answer(
                    lambda: browser.get(back), lambda response: response.is_redirect, "back"
                )
                me = await wait_for_answer(
                    lambda: browser.get(f"{API}/me"),
                    lambda response: bool(response.text),
                    "who is it",
                )
            except httpx.TransportError:
                return False
            profile = me.json() if me.is_success else {}
            return (profile.get("name"), profile.get("role")) == (PERSON, ROLE)

        if not await wait_for(has_signed_in, RETRY_SECONDS):
            raise SystemViolation(f"{PERSON} could not sign in with the provider")

    async def _start_sign_in(self, browser: httpx.AsyncClient) -> str:
        """Return the address to which the button of the page sends the browser."""
        sent = await wait_for_answer(
            lambda: browser.get(PROVIDER_PATH),
            lambda response: (
                re.match(self._provider.url, response.headers.get("location", "")) is not None
            ),
            "somebody signs in by the provider",
        )
        return str(sent.headers["location"])

    def _open_browser(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=self._url, timeout=_REQUEST_TIMEOUT)


@contextmanager
def start_provider() -> Iterator[OpenIdProvider]:
    """Yield a running provider."""
    provider = OpenIdProvider()
    asyncio.run(provider.start())
    try:
        yield provider
    finally:
        provider.stop()


@asynccontextmanager
async def open_browser_users(
    url: str, provider: OpenIdProvider, script_token: ScriptToken
) -> AsyncIterator[BrowserUsers]:
    """Yield people in browsers, one of whom has signed in."""
    users = BrowserUsers(url, provider, script_token)
    await users.enter()
    try:
        yield users
    finally:
        await users.close()
