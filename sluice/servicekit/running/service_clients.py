"""Clients by which services call each other, over the network or within one process."""

from collections.abc import Generator, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, Protocol

import httpx

from sluice.contracts.access.access import ON_BEHALF_HEADER
from sluice.contracts.access.services import CallingService
from sluice.network.http_clients import http_client
from sluice.servicekit.access.delegation import add_delegation, delegation_header, person_request
from sluice.servicekit.access.principal import (
    THIS_PROCESS,
    Principal,
    ServiceCaller,
    set_principal,
)
from sluice.servicekit.access.service_tokens import ServiceSigner
from sluice.servicekit.audit.request import bind_request
from sluice.servicekit.web.in_process import StreamingTransport

ASGIApp = Any


class Links(Protocol):
    """The clients of a service for other services."""

    def http(self, service: str, *, streams: bool = False) -> httpx.AsyncClient:
        """Return a client whose relative URLs lead to ``service`` (``dms``, ``wfms.chains`` …).

        ``streams`` is for responses that are read while they are produced and may exceed the
        memory.
        """
        ...

    async def stop(self) -> None:
        """Close all clients."""


class _Clients:
    """Component that closes the clients that it has handed out."""

    def __init__(self) -> None:
        self._clients: list[httpx.AsyncClient] = []

    def _keep(self, client: httpx.AsyncClient) -> httpx.AsyncClient:
        self._clients.append(client)
        return client

    async def start(self) -> None:
        return None

    async def stop(self) -> None:
        """Close all clients."""
        for client in self._clients:
            await client.aclose()


class CredentialRefused(httpx.TransportError):
    """Another service refuses this service's token: clocks differ, or keys are being changed.

    It counts as a connection error, so that no request fails permanently.
    """


class SignedRequests(httpx.Auth):
    """httpx authentication that signs requests to ``service`` and names the person they are for."""

    def __init__(self, signer: ServiceSigner, service: str) -> None:
        self._signer = signer
        self._service = service

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Sign a request.

        Raises:
            CredentialRefused: The service refuses the token.
        """
        request.headers["authorization"] = f"Bearer {self._signer.token(self._service)}"
        request.headers.pop(ON_BEHALF_HEADER, None)
        if (person := delegation_header(self._signer.service)) is not None:
            request.headers[ON_BEHALF_HEADER] = person
        response = yield request
        if response.status_code == httpx.codes.UNAUTHORIZED:
            self._signer.forget(self._service)
            raise CredentialRefused(
                f"it rejects the token of the service {self._signer.service}: compare the clocks"
                " and the keys of the two services",
                request=request,
            )


class NetworkLinks(_Clients):
    """Links over the network.

    ``addresses`` maps services to base URLs. ``signer`` signs the requests; without it they carry
    no credential.
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
        """Return a client for ``service``. All of its responses can be streamed."""
        address = self._addresses[service]
        return self._keep(
            http_client(
                address,
                timeout=self._timeout,
                auth=None if self._signer is None else SignedRequests(self._signer, service),
            )
        )


class ProcessLinks(_Clients):
    """Links between services of this process, which call each other's ASGI applications directly.

    Applications may be registered later. Requests carry their principal.
    """

    def __init__(self) -> None:
        super().__init__()
        self.apps: MutableMapping[str, ASGIApp] = {}

    def http(self, service: str, *, streams: bool = False) -> httpx.AsyncClient:
        """Return a client by which this process itself calls ``service``."""
        return self.http_of(THIS_PROCESS, service, streams=streams)

    def of(self, service: str) -> "LinksOf":
        """Return the links by which ``service`` calls others."""
        return LinksOf(self, ServiceCaller(CallingService(service)))

    def http_of(
        self, caller: Principal, service: str, *, streams: bool = False
    ) -> httpx.AsyncClient:
        """Return a client by which ``caller`` calls ``service``."""

        async def app(scope: Any, receive: Any, send: Any) -> None:
            now = add_delegation(caller)
            set_principal(scope, now)
            with bind_request(person_request(now, scope)):
                await self.apps[service](scope, receive, send)

        transport = (
            StreamingTransport(app)
            if streams
            else httpx.ASGITransport(app, raise_app_exceptions=False)
        )
        return self._keep(httpx.AsyncClient(transport=transport, base_url=f"http://{service}"))


@dataclass(frozen=True, slots=True)
class LinksOf:
    """Links of one caller. ``ProcessLinks`` keeps and closes their clients."""

    links: ProcessLinks
    caller: Principal

    def http(self, service: str, *, streams: bool = False) -> httpx.AsyncClient:
        """Return a client by which the caller calls ``service``."""
        return self.links.http_of(self.caller, service, streams=streams)

    async def stop(self) -> None:
        """Do nothing: ``ProcessLinks`` closes the clients."""
