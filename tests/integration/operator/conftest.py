"""The operator service on a fresh database, with fake neighbours that have the rows of a test."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from argon2 import PasswordHasher
from starlette.applications import Starlette

from sluice.clients.operator import OperatorClient
from sluice.contracts.templates.templates import NewTemplate
from sluice.servicekit.messages.queue_topology import sluice_topology
from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.running.service import Service
from sluice.servicekit.running.service_clients import ProcessLinks
from sluice.servicekit.transport.base import Transport
from sluice.servicekit.transport.open import open_transport
from sluice.servicekit.web.server import HttpServer
from tests.callers import allow_everybody
from tests.conftest import DatabaseFactory
from tests.integration.operator.fakes.neighbours import Neighbours
from tests.integration.operator.scene import Scene
from tests.integration.operator.sluice_command import Command
from wfms.operator.identity.usecases import passwords
from wfms.operator.settings import OperatorSettings
from wfms.operator.wiring import build

#: Addresses of the API, of a single object, and of parts that renew a page.
_NO_PAGE = re.compile(r"^/(api/|healthz|readyz|metrics)|\{|/live$")
SPD = Path(__file__).parents[3] / "templates" / "spd" / "workflow.cwl"


@dataclass
class Operator:
    """``http`` calls the application directly, and ``client`` is the typed client on top of it."""

    service: Service
    http: httpx.AsyncClient
    client: OperatorClient
    neighbours: Neighbours
    links: ProcessLinks
    database_url: str
    transport: Transport

    @property
    def pages(self) -> set[str]:
        """Return the addresses of all pages that do not show a single object."""
        routes = cast(Starlette, self.service.app).state.policies
        return {
            path
            for method, path in (route.split() for route in routes)
            if method == "GET" and not _NO_PAGE.search(path)
        }


@pytest.fixture
def spd_text() -> str:
    return SPD.read_text()


@pytest.fixture
async def database_url(make_database: DatabaseFactory) -> str:
    """Return the URL of a new database of an operator service."""
    return await make_database("wfms.operator.db.migrations")


@pytest.fixture
async def operator(database_url: str) -> AsyncIterator[Operator]:
    async with run_operator(database_url) as operator:
        yield operator


@asynccontextmanager
async def run_operator(database_url: str, **settings: Any) -> AsyncIterator[Operator]:
    neighbours, links = Neighbours(), ProcessLinks()
    links.apps.update(neighbours.apps)
    read = OperatorSettings(
        database_url=database_url, broker_url=database_url, patience=30, **settings
    )
    transport = open_transport(database_url, sluice_topology())
    with pytest.MonkeyPatch.context() as patch:
        # A hash at the default cost takes a third of a second.
        quick_hasher = partial(PasswordHasher, time_cost=1, memory_cost=8, parallelism=1)
        patch.setattr(passwords, "PasswordHasher", quick_hasher)
        service = build(read, links=links, transport=transport)
    async with running(transport, service, links):
        http = httpx.AsyncClient(
            transport=httpx.ASGITransport(allow_everybody(service.app)),
            base_url="http://operator.test",
        )
        async with http:
            yield Operator(
                service, http, OperatorClient(http), neighbours, links, database_url, transport
            )


@pytest.fixture
async def sluice(operator: Operator) -> AsyncIterator[Command]:
    """Yield the command `sluice`, which reaches the service on a real port."""
    server = HttpServer(allow_everybody(operator.service.app), host="127.0.0.1", port=0)
    async with running(server):
        yield Command(f"http://127.0.0.1:{server.port}")


@pytest.fixture
async def scene(operator: Operator, spd_text: str, tmp_path: Path) -> Scene:
    """Return rows of chains, tasks, jobs and data sets in the neighbours."""
    template = await operator.client.store_template(NewTemplate(name="spd", cwl=spd_text))
    scene = Scene(operator.neighbours, template, tmp_path, datetime.now(UTC))
    scene.add_rows()
    return scene
