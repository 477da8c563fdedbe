"""How a service reaches another one: by address, or within one process over the same client (the
transport is the seam).
"""

from collections.abc import Generator, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, Protocol

import httpx

from sluice.contracts.access import ON_BEHALF_HEADER, CallingService
from sluice.http_clients import http_client
from sluice.servicekit.access.behalf import acting, header_of, request_of
from sluice.servicekit.access.principal import (
    THIS_PROCESS,
    Principal,
    ServiceCaller,
    set_principal,
)
from sluice.servicekit.access.service_tokens import ServiceSigner
from sluice.servicekit.audit.request import answering
from sluice.servicekit.in_process import StreamingTransport

ASGIApp = Any


class Links(Protocol):
    def http(self, service: str, *, streams: bool = False) -> httpx.AsyncClient:
        """A client whose relative URLs lead to ``service`` (``dms``, ``wms``, ``wfms.chains`` …).
        ``streams``: for answers that are read while they are made, and may be larger than the
        memory.
        """
        ...

    async def stop(self) -> None: ...


class _Clients:
    """Component: the clients it handed out, closed when it stops."""

    def __init__(self) -> None:
        self._clients: list[httpx.AsyncClient] = []

    def _keep(self, client: httpx.AsyncClient) -> httpx.AsyncClient:
        self._clients.append(client)
        return client

    async def start(self) -> None:
        return None

    async def stop(self) -> None:
        for client in self._clients:
            await client.aclose()


class CredentialRefused(httpx.TransportError):
    """Another service does not know this one: clocks differ, or keys are being changed. It is as if
    it could not be reached: no request is refused for that.
    """


class SignedRequests(httpx.Auth):
    """Each says which service asks ``service``, and for whom. Raises ``CredentialRefused``."""

    def __init__(self, signer: ServiceSigner, service: str) -> None:
        self._signer = signer
        self._service = service

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["authorization"] = f"Bearer {self._signer.token(self._service)}"
        request.headers.pop(ON_BEHALF_HEADER, None)
        if (person := header_of(self._signer.service)) is not None:
            request.headers[ON_BEHALF_HEADER] = person
        response = yield request
        if response.status_code == httpx.codes.UNAUTHORIZED:
            self._signer.forget(self._service)
            raise CredentialRefused(
                f"it does not take the token of the service {self._signer.service}, whose clock or"
                " key it does not agree with",
                request=request,
            )


class NetworkLinks(_Clients):
    """``addresses``: service → base URL. ``signer``: of the service that asks, None: it does not
    say who it is.
    """

    def __init__(
        self,
        addresses: Mapping[str, str],
        signer: ServiceSigner | None = None,
        *,
        timeout: float = 30.0,
    ) -> None:
        super().__init__()
        self._addresses = addresses
        self._signer = signer
        self._timeout = timeout

    def http(self, service: str, *, streams: bool = False) -> httpx.AsyncClient:
        address = self._addresses[service]
        return self._keep(
            http_client(
                address,
                timeout=self._timeout,
                auth=None if self._signer is None else SignedRequests(self._signer, service),
            )
        )


class ProcessLinks(_Clients):
    """All services in this process: requests go straight to the other's ASGI application, which may
    be registered later, and say who sends them.
    """

    def __init__(self) -> None:
        super().__init__()
        self.apps: MutableMapping[str, ASGIApp] = {}

    def http(self, service: str, *, streams: bool = False) -> httpx.AsyncClient:
        return self.http_of(THIS_PROCESS, service, streams=streams)

    def of(self, service: str) -> "LinksOf":
        """Those by which ``service`` asks others."""
        return LinksOf(self, ServiceCaller(CallingService(service)))

    def http_of(
        self, caller: Principal, service: str, *, streams: bool = False
    ) -> httpx.AsyncClient:
        """A client by which ``caller`` asks."""

        async def app(scope: Any, receive: Any, send: Any) -> None:
            now = acting(caller)
            set_principal(scope, now)
            with answering(request_of(now, scope)):
                await self.apps[service](scope, receive, send)

        transport = (
            StreamingTransport(app)
            if streams
            else httpx.ASGITransport(app, raise_app_exceptions=False)
        )
        return self._keep(httpx.AsyncClient(transport=transport, base_url=f"http://{service}"))


@dataclass(frozen=True, slots=True)
class LinksOf:
    """Links of one caller, kept and closed with those of all."""

    links: ProcessLinks
    caller: Principal

    def http(self, service: str, *, streams: bool = False) -> httpx.AsyncClient:
        return self.links.http_of(self.caller, service, streams=streams)

    async def stop(self) -> None:
        """Nothing of its own."""
