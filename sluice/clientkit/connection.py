"""Connections to a system: at a given address, or the embedded one of the home folder."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import httpx

from sluice.clients.dms import DmsClient
from sluice.clients.operator import OperatorClient
from sluice.contracts.common.problems import Unprocessable
from sluice.cwl_runner.client_lease import ClientLease
from sluice.embedded.home import Home
from sluice.network.credentials import headers_for, is_own_system, known_dms, token_for
from sluice.network.http_clients import http_client
from sluice.text.os_errors import reason_of
from sluice.text.visible_text import quoted


@dataclass(frozen=True, slots=True)
class Connection:
    """The clients of one system.

    The DMS is at ``<url>/services/dms`` unless ``SLUICE_DMS_URL`` says otherwise. A system that was
    found through its home folder has its own DMS.
    """

    url: str
    operator: OperatorClient
    dms: DmsClient
    #: Owns the data sets that a waiting command uploads. If it is None, they outlive the command.
    lease: ClientLease | None = None

    async def own(self, dataset: UUID) -> None:
        """Make the lease, if there is one, own a data set that was just registered."""
        if self.lease is not None:
            await asyncio.to_thread(self.lease.own, datasets=[str(dataset)])


def running_url(home: Path) -> str | None:
    """Return the address of the system that runs in a home folder, or None."""
    running = Home(home).running()
    return running.url if running else None


@asynccontextmanager
async def connected(
    url: str, *, token: str | None = None, lease: ClientLease | None = None
) -> AsyncIterator[Connection]:
    """Provide a connection to a system. It sends no request yet.

    Args:
        url: The address of the system.
        token: Replaces the tokens that are known for the addresses.
        lease: Owns the data sets that the command uploads.

    Raises:
        Unprocessable: The address of the system or of its DMS is malformed.
    """
    dms_url = known_dms(url) or f"{url}/services/dms"
    if not is_own_system(url):
        dms_url = os.environ.get("SLUICE_DMS_URL", dms_url)
    for address in (url, dms_url):
        _require_address(address)
    async with (
        client(url, seconds=30, token=token) as operator,
        client(dms_url, seconds=60, token=_for_dms(url, dms_url, token)) as dms,
    ):
        yield Connection(url, OperatorClient(operator), DmsClient(dms), lease)


def _for_dms(url: str, dms_url: str, token: str | None) -> str | None:
    """Return the token for the DMS, which belongs to the same system at any address."""
    return token if token is not None else token_for(dms_url) or token_for(url)


def client(url: str, *, seconds: float, token: str | None = None) -> httpx.AsyncClient:
    """Return an HTTP client that authenticates its requests.

    Args:
        url: The base address.
        seconds: The time limit for an answer.
        token: Replaces the token that is known for the address.
    """
    return http_client(url, timeout=seconds, headers=headers_for(url, token=token))


def _require_address(text: str) -> None:
    try:
        httpx.URL(text)
    except httpx.InvalidURL as error:
        raise Unprocessable(
            f"{quoted(text)} is not the address of a system, as in http://127.0.0.1:8080:"
            f" {reason_of(error)}"
        ) from error
