"""An OpenID provider in its own process."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from stack.ports import free_ports
from tests.waiting import wait_until

ROLES = {"crew": "shift", "experts": "admin", "guests": "viewer"}


class Provider:
    def __init__(self, url: str) -> None:
        self.url = url

    async def register_user(self, subject: str, **claims: Any) -> None:
        async with httpx.AsyncClient() as http:
            identity = {"preferred_username": subject, **claims}
            (await http.put(f"{self.url}/users/{subject}", json=identity)).raise_for_status()

    async def sign_in(self, address: str, subject: str) -> str:
        """Sign in at the provider, and return the address to which the browser is sent back."""
        async with httpx.AsyncClient() as http:
            page = await http.get(address)
            assert page.status_code == 200, page.text
            done = await http.post(address, data={"sub": subject})
            assert done.status_code == 302, done.text
            return str(done.headers["location"])


@contextmanager
def open_provider() -> Iterator[Provider]:
    """Start a provider, and stop it at the end."""
    [port] = free_ports(1)
    command = ("-W", "ignore", "-m", "oidc_provider_mock", "--port", str(port))
    process = subprocess.Popen(
        [sys.executable, *command, "--require-nonce", "true"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://localhost:{port}"

    def answers() -> bool:
        try:
            return httpx.get(url).status_code == 200
        except httpx.TransportError:
            return False

    try:
        wait_until(answers, what="the provider answers")
        yield Provider(url)
    finally:
        process.terminate()
        process.wait()
