"""How a service reaches another one: by address, or within one process over the same client (the transport is the seam)."""

from collections.abc import Mapping, MutableMapping
from typing import Any, Protocol

import httpx

ASGIApp = Any


class Links(Protocol):
    def http(self, service: str) -> httpx.AsyncClient:
        """A client whose relative URLs lead to ``service`` (``dms``, ``wms``, ``wfms.chains`` …)."""
        ...

    async def stop(self) -> None: ...


class NetworkLinks:
    """``addresses``: service → base URL."""

    def __init__(self, addresses: Mapping[str, str], *, timeout: float = 30.0) -> None:
        self._addresses = addresses
        self._timeout = timeout
        self._clients: list[httpx.AsyncClient] = []

    def http(self, service: str) -> httpx.AsyncClient:
        client = httpx.AsyncClient(base_url=self._addresses[service], timeout=self._timeout)
        self._clients.append(client)
        return client

    async def start(self) -> None:
        return None

    async def stop(self) -> None:
        for client in self._clients:
            await client.aclose()


class ProcessLinks:
    """All services in this process: requests go straight to the other's ASGI application, which may be registered later."""

    def __init__(self) -> None:
        self.apps: MutableMapping[str, ASGIApp] = {}
        self._clients: list[httpx.AsyncClient] = []

    def http(self, service: str) -> httpx.AsyncClient:
        async def app(scope: Any, receive: Any, send: Any) -> None:
            await self.apps[service](scope, receive, send)

        client = httpx.AsyncClient(transport=httpx.ASGITransport(app, raise_app_exceptions=False), base_url=f"http://{service}")
        self._clients.append(client)
        return client

    async def start(self) -> None:
        return None

    async def stop(self) -> None:
        for client in self._clients:
            await client.aclose()
