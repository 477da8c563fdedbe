"""A browser, and an operator service on a free port."""

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import (
    Browser,
)

from sluice.contracts.templates.templates import NewTemplate
from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.web.server import HttpServer
from tests.callers import allow_everybody
from tests.e2e.web.browser import open_chromium
from tests.integration.operator.conftest import SPD, Operator, run_operator
from tests.integration.operator.identity.openid_provider import Provider, open_provider
from tests.integration.operator.scene import Scene


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with open_chromium() as browser:
        yield browser


@pytest_asyncio.fixture(loop_scope="module")
async def operator(database_url: str) -> AsyncIterator[Operator]:
    async with run_operator(database_url) as operator:
        yield operator


@pytest_asyncio.fixture(loop_scope="module")
async def base(operator: Operator) -> AsyncIterator[str]:
    """Yield the address of the service on a free port."""
    server = HttpServer(allow_everybody(operator.service.app), host="127.0.0.1", port=0)
    async with running(server):
        yield f"http://127.0.0.1:{server.port}"


@pytest_asyncio.fixture(loop_scope="module")
async def scene(operator: Operator, spd_text: str, tmp_path: Path) -> Scene:
    template = await operator.client.store_template(NewTemplate(name="spd", cwl=spd_text))
    scene = Scene(operator.neighbours, template, tmp_path, datetime.now(UTC))
    scene.add_rows()
    return scene


@pytest.fixture
def spd_text() -> str:
    return SPD.read_text()


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with open_provider() as provider:
        yield provider
