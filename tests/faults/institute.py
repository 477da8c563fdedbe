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
from tests.faults.retries import PATIENCE, PERIOD, NothingToStrike, WentWrong, answer, until
from tests.faults.script import Badge

PERSON, GROUP, ROLE = "anna", "crew", "viewer"
#: The message for a sign-in while the provider is down.
DOWN = "the OpenID provider does not answer as it should"
#: Seconds for an answer: the operator service waits for the provider for 15 s.
_LIMIT = 30.0


class Institute:
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
        """Start the provider and register the people; raise ``NothingToStrike`` on failure."""
        self._process = await asyncio.to_thread(self._begin)
        if not await until(self._knows_everybody):
            raise NothingToStrike("the OpenID provider did not start")

    def _begin(self) -> subprocess.Popen[bytes]:
        command = ("-W", "ignore", "-m", "oidc_provider_mock", "--port", str(self._port))
        return subprocess.Popen(
            [sys.executable, *command, "--require-nonce", "true"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def hold(self, is_stopped: bool) -> None:
        """Suspend or continue the provider: it accepts connections, but does not answer."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP if is_stopped else signal.SIGCONT)

    async def lets_in(self, address: str) -> str:
        """Sign in at the provider, and return the address of the way back.

        Raises ``httpx.TransportError``.
        """
        async with httpx.AsyncClient(timeout=_LIMIT) as http:
            done = await http.post(address, data={"sub": PERSON})
            if not done.is_redirect:
                raise httpx.RemoteProtocolError(
                    f"the provider refuses the sign-in: {done.status_code}"
                )
            return str(done.headers["location"])

    async def _knows_everybody(self) -> bool:
        claims = {"preferred_username": PERSON, "groups": [GROUP]}
        async with httpx.AsyncClient() as http:
            try:
                return (await http.put(f"{self.url}/users/{PERSON}", json=claims)).is_success
            except httpx.TransportError:
                return False


class Visitors:
    """People in browsers; ``url`` is the operator service, ``badge`` the token of a script."""

    def __init__(self, url: str, institute: Institute, badge: Badge) -> None:
        self._url = url
        self._institute = institute
        self._badge = badge
        self._stays = self._browser()

    async def enter(self) -> None:
        """Sign one person in, who stays."""
        await self._sign_in(self._stays)

    async def close(self) -> None:
        await self._stays.aclose()

    async def find_provider_down(
        self, seconds: float, begins: Callable[[], None], *, hangs: bool
    ) -> str:
        """Take the provider down, and check sign-ins, an open session and a token.

        New sign-ins, and those on the way back, get an error. The open session continues, and later
        a sign-in succeeds. Raises ``WentWrong`` or ``NothingToStrike``.
        """
        async with self._browser() as new, self._browser() as on_his_way:
            back = await self._institute.lets_in(await self._sent(on_his_way))
            begins()
            began = time.monotonic()
            await self._go_down(hangs)
            try:
                await asyncio.gather(
                    self._is_told(new, PROVIDER_PATH), self._is_told(on_his_way, back), self._stay()
                )
                while time.monotonic() < began + seconds:
                    await self._stay()
                    await asyncio.sleep(PERIOD)
            finally:
                lasted = time.monotonic() - began
                await self._come_back(hangs)
            await self._sign_in(new)
        way = "hung" if hangs else "was down"
        return f"the OpenID provider {way} for {lasted:.1f} s; {PERSON} was told so, and stayed in"

    async def _go_down(self, hangs: bool) -> None:
        if hangs:
            self._institute.hold(True)
        else:
            await asyncio.to_thread(self._institute.end)

    async def _come_back(self, hangs: bool) -> None:
        if hangs:
            self._institute.hold(False)
        else:
            await self._institute.start()

    async def _is_told(self, browser: httpx.AsyncClient, address: str) -> None:
        await answer(
            lambda: browser.get(address),
            lambda response: (
                response.status_code == httpx.codes.SERVICE_UNAVAILABLE and DOWN in response.text
            ),
            "somebody signs in by a provider that is down",
        )

    async def _stay(self) -> None:
        """Require answers for an open session and for a token."""
        await answer(
            partial(self._stays.get, f"{API}/me"),
            lambda response: response.is_success and response.json()["name"] == PERSON,
            "an open session while the provider is down",
        )
        headers = {"Authorization": f"Bearer {self._badge.secret}"}
        async with self._browser() as http:
            await answer(
                lambda: http.get(f"{API}/me", headers=headers),
                # Another fault may just have revoked the token.
                lambda response: (
                    response.is_success or response.status_code == httpx.codes.UNAUTHORIZED
                ),
                "a token while the provider is down",
            )

    async def _sign_in(self, browser: httpx.AsyncClient) -> None:
        """Sign in, and repeat it if other faults prevent it."""

        async def signs_in() -> bool:
            try:
                back = await self._institute.lets_in(await self._sent(browser))
                await answer(
                    lambda: browser.get(back), lambda response: response.is_redirect, "back"
                )
                me = await answer(
                    lambda: browser.get(f"{API}/me"),
                    lambda response: bool(response.text),
                    "who is it",
                )
            except httpx.TransportError:
                return False
            profile = me.json() if me.is_success else {}
            return (profile.get("name"), profile.get("role")) == (PERSON, ROLE)

        if not await until(signs_in, PATIENCE):
            raise WentWrong(f"{PERSON} could not sign in with the provider")

    async def _sent(self, browser: httpx.AsyncClient) -> str:
        """Return the address to which the button of the page sends the browser."""
        sent = await answer(
            lambda: browser.get(PROVIDER_PATH),
            lambda response: (
                re.match(self._institute.url, response.headers.get("location", "")) is not None
            ),
            "somebody signs in by the provider",
        )
        return str(sent.headers["location"])

    def _browser(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=self._url, timeout=_LIMIT)


@contextmanager
def institute() -> Iterator[Institute]:
    """Yield a running provider."""
    provider = Institute()
    asyncio.run(provider.start())
    try:
        yield provider
    finally:
        provider.end()


@asynccontextmanager
async def visitors(url: str, place: Institute, badge: Badge) -> AsyncIterator[Visitors]:
    """Yield visitors, one of whom has signed in."""
    visitor_group = Visitors(url, place, badge)
    await visitor_group.enter()
    try:
        yield visitor_group
    finally:
        await visitor_group.close()
